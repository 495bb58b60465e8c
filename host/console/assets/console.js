/* global htmx, uPlot */
// What pages do beyond what the gateway sends: they say whether they are live, copy identifiers, and draw plots.
//
// Without this script every page shows and does the same, and nothing moves by itself. Nothing here reads text as markup or as a program:
// what comes from the gateway's streams is put in by htmx as the gateway has written it, and everything else is text.
(() => {
  'use strict';

  // Nothing on a page is a program, also where it stands in an attribute. The policy of pages says the same to the browser.
  const refuse = function refuse() { throw new Error('no text on a page is run'); };
  htmx.registerExtension('pages', {
    init: (api) => { api.initSecurity(null, refuse, refuse); },
    // The extension for streams has taken them; whatever else comes is put nowhere.
    htmx_before_response: (element, { ctx }) => {
      if (element.matches(TOLD)) {
        element.submit();
        return false;
      }
      isOver ||= ctx.response.status === 401 || ctx.response.raw.redirected;
      askAgain();
      return false;
    },
  });

  document.documentElement.classList.add('scripted');

  // A form that is answered by a stream, piece by piece. What cannot begin so is sent as without scripts: the answer is a page then.
  const TOLD = 'form[data-told]';
  document.querySelectorAll(TOLD).forEach((form) => {
    form.addEventListener('htmx:error', () => form.submit());
    form.addEventListener('htmx:sse:close', () => {
      const unended = document.getElementById(form.dataset.told).querySelector('[data-under-way] h2');
      if (unended) unended.textContent = 'The connection broke, and it was stopped';
    });
  });

  const clock = () => `${new Date().toISOString().slice(11, 19)} UTC`;

  // The word under the title: since when the page is live, or that it is not.
  const word = document.querySelector('.live');
  const moves = document.querySelector('.moves');
  const HEARD_WITHIN_MS = 12_000;
  const ASK_AGAIN_MS = 5_000;
  let isLive = false;
  let isOver = false;
  let heardAt = 0;
  let lastHeard = clock();
  let connection = null;

  function say(tone, shape, text) {
    const mark = document.createElement('span');
    mark.setAttribute('aria-hidden', 'true');
    mark.textContent = `${shape} `;
    word.className = `live chip ${tone}`;
    word.replaceChildren(mark, text);
  }

  function hear() {
    heardAt = Date.now();
    lastHeard = clock();
    if (isLive) return;
    isLive = true;
    say('good', '●', `live since ${lastHeard}`);
  }

  function miss() {
    const text = isOver ? `not live: you are signed out; this is of ${lastHeard}` : `not live: this is of ${lastHeard}`;
    isLive = false;
    say('care', '▲', text);
  }

  // A stream that could not begin, or that htmx has given up, is asked for again; not after the session has ended.
  function askAgain() {
    miss();
    if (!isOver) setTimeout(() => htmx.trigger(moves, 'again'), ASK_AGAIN_MS);
  }

  if (word && moves) {
    moves.addEventListener('htmx:sse:before:connection', (event) => {
      connection = event.detail.connection;
      if (isOver) event.preventDefault();
      else if (connection.attempt > 0) miss();
    });
    moves.addEventListener('htmx:sse:after:connection', hear);
    moves.addEventListener('htmx:sse:after:message', (event) => {
      if (event.detail.message.event !== 'end') hear();
    });
    moves.addEventListener('end', miss);
    moves.addEventListener('htmx:sse:error', (event) => {
      isOver ||= event.detail.status === 401;
      miss();
    });
    moves.addEventListener('htmx:sse:close', miss);
    moves.addEventListener('htmx:error', askAgain);
    document.addEventListener('visibilitychange', () => { if (document.hidden) miss(); });
    // A connection can break without a word. The gateway says something every few seconds.
    setInterval(() => {
      if (!isLive || document.hidden || Date.now() - heardAt < HEARD_WITHIN_MS) return;
      miss();
      connection?.reader?.cancel();
    }, 1_000);
  }

  // Plots: the table below each says the same, and stays.
  const DRAWN_EVERY_MS = 10_000;
  const HEIGHT = 200;
  const COLOURS = ['--time', '--taste', '--budget', '--safety', '--accent', '--care', '--good', '--quiet'];
  const BOUND_COLOUR = '--bad';
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // A value with none beside it makes no line; it is a dot.
  const findLone = (plot, place) => {
    const values = plot.data[place];
    return values.flatMap((value, at) => ((value ?? null) !== null && (values[at - 1] ?? null) === null && (values[at + 1] ?? null) === null ? [at] : []));
  };

  function options(data, width) {
    const axis = { stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 }, ticks: { stroke: colour('--line'), width: 1 } };
    const lines = data.lines.map((line, place) => ({ label: line.label, stroke: colour(COLOURS[place % COLOURS.length]), width: 1.5, points: { show: true, size: 4, filter: findLone } }));
    const bounds = data.bounds.map((bound) => ({ label: bound.label, stroke: colour(BOUND_COLOUR), width: 1, dash: [6, 4] }));
    return {
      width,
      height: HEIGHT,
      series: [{ label: 'UTC' }, ...lines, ...bounds],
      axes: [axis, { ...axis, size: 56 }],
      scales: { y: { range: (plot, least, most) => [0, Math.max(1, most * 1.1)] } },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
      cursor: { drag: { x: false, y: false } },
    };
  }

  const columns = (data) => [data.at, ...data.lines.map((line) => line.values), ...data.bounds.map((bound) => data.at.map(() => bound.value))];
  const names = (data) => JSON.stringify([...data.lines, ...data.bounds].map((one) => one.label));

  async function draw(figure) {
    const drawn = figure.querySelector('.drawn');
    let plot = null;
    let shown = '';
    const look = async () => {
      if (document.hidden) return;
      const answer = await fetch(figure.dataset.plot).catch(() => null);
      if (!answer?.ok || answer.redirected) {
        figure.classList.add('stale');
        return;
      }
      const data = await answer.json();
      figure.classList.remove('stale');
      // Other lines make another plot.
      if (plot && shown === names(data)) {
        plot.setData(columns(data));
        return;
      }
      plot?.destroy();
      shown = names(data);
      plot = new uPlot(options(data, drawn.clientWidth), columns(data), drawn);
    };
    new ResizeObserver(() => {
      if (plot && plot.width !== drawn.clientWidth) plot.setSize({ width: drawn.clientWidth, height: HEIGHT });
    }).observe(drawn);
    await look();
    setInterval(look, DRAWN_EVERY_MS);
  }

  document.querySelectorAll('[data-plot]').forEach(draw);

  // Identifiers are shown cut; the button beside one copies it whole.
  document.addEventListener('click', async (event) => {
    const button = event.target.closest?.('button.copy');
    if (!button) return;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.classList.add('done');
      setTimeout(() => button.classList.remove('done'), 1_500);
    } catch {
      // Without a right to the clipboard, the whole of it is selected in the page.
      const code = button.previousElementSibling;
      code.textContent = button.dataset.copy;
      getSelection().selectAllChildren(code);
    }
  });
})();
