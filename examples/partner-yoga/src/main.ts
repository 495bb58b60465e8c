// An example partner: a business with yoga studios, as an MCP server for lifestyle.book_yoga_class.
//
// A template for partners who write their own server. It keeps everything in memory, takes no money
// and calls nobody. Start it with `npm start -- --port 8106`.

import { CATALOGUE, loadCatalogue } from './catalogue.ts';
import { Desk } from './desk.ts';
import { serve } from '../../partner-typescript/src/serve.ts';

serve({
  port: 8106,
  catalogue: { default: CATALOGUE, form: 'FILE', help: 'the business (default: catalogue.json of this folder)' },
  open(file, callback) {
    const catalogue = loadCatalogue(file);
    if (callback !== undefined) catalogue.platform.completion_callback = callback;
    return new Desk(catalogue);
  },
});
