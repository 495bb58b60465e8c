// An example partner: a business that repairs car ACs, as an MCP server for auto.book_ac_service.
//
// A template for partners who write their own server. It keeps everything in memory, takes no money
// and calls nobody. Start it with `npm start -- --port 8102`.

import { loadCatalogue } from './catalogue.ts';
import { Desk } from './desk.ts';
import { serve } from './serve.ts';

serve({
  port: 8102,
  catalogue: { default: 'specialist', form: 'NAME|FILE', help: 'a name from examples/catalogues, or a file (default: specialist)' },
  open(file, callback) {
    const catalogue = loadCatalogue(file);
    if (callback !== undefined) catalogue.platform.completion_callback = callback;
    return new Desk(catalogue);
  },
});
