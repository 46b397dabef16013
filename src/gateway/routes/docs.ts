import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import express, { type Router } from 'express';
import { problems } from '../problem.js';

const require = createRequire(import.meta.url);

const docsPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley API</title>
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
<link rel="icon" href="/docs/assets/favicon-32x32.png">
</head>
<body>
<div id="docs"></div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/init.js"></script>
</body>
</html>
`;

// A file of its own: the content security policy allows no script inside a page.
const initScript = `window.ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  validatorUrl: null,
  tryItOutEnabled: true,
});
`;

const problemPage = (
  code: string,
  { status, title, advice }: { status: number; title: string; advice: string },
): string => `# ${code}\n\n${title}. HTTP status ${status}.\n\n${advice}\n`;

/** The API's description, the pages that show it, and one page for each problem `type`; nothing is asked of other hosts. */
export const docsRouter = (makeDocument: () => object): Router => {
  const router = express.Router();
  const assets = dirname(require.resolve('swagger-ui-dist/package.json'));
  // Made at the first request: it takes longer than everything else in a start.
  let json: string | null = null;
  router.get('/openapi.json', (_request, response) => {
    response.type('application/json').send((json ??= JSON.stringify(makeDocument())));
  });
  router.get('/docs', (_request, response) => {
    response.type('html').send(docsPage);
  });
  router.get('/docs/init.js', (_request, response) => {
    response.type('text/javascript').send(initScript);
  });
  router.use('/docs/assets', express.static(assets, { index: false, maxAge: '1h' }));
  router.get('/problems', (_request, response) => {
    const pages = Object.entries(problems).map(([code, kind]) => problemPage(code, kind));
    response.type('text/markdown').send(pages.join('\n'));
  });
  router.get('/problems/:code', (request, response, next) => {
    const { code } = request.params;
    if (!Object.hasOwn(problems, code)) return next();
    response.type('text/markdown').send(problemPage(code, problems[code as keyof typeof problems]));
  });
  return router;
};
