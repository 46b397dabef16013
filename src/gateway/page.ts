import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express, { type Router } from 'express';

const require = createRequire(import.meta.url);
const folder = fileURLToPath(new URL('../page/', import.meta.url));
const preactModule = join(dirname(require.resolve('htm')), '..', 'preact', 'standalone.module.js');
const yamlModules = join(dirname(require.resolve('yaml/package.json')), 'browser');

/** Where this version's files are, and the document that loads them: every module is named in it, so that none waits for another. */
const readPage = (): { place: string; document: string } => {
  const names = readdirSync(folder).sort();
  const hash = createHash('sha256');
  for (const name of names) hash.update(`${name}\n`).update(readFileSync(join(folder, name)));
  const place = `/page/${hash.digest('hex').slice(0, 16)}`;
  const modules = names.filter((name) => name.endsWith('.js')).map((name) => `${place}/${name}`);
  const preloads = ['/vendor/htm-preact.js', ...modules].map((path) => `<link rel="modulepreload" href="${path}" />\n`);
  const document = readFileSync(join(folder, 'index.html'), 'utf8')
    .replaceAll('"/page/', `"${place}/`)
    .replace('</head>', `${preloads.join('')}</head>`);
  return { place, document };
};

let page: ReturnType<typeof readPage> | undefined;

/**
 * The operator page (spec 09). Its files stand under a path that changes with them, so that a browser keeps them for good; of
 * another version, which a gateway beside this one may have named, it answers with its own, not to be kept.
 */
export const pageRouter = (): Router => {
  const { place, document } = (page ??= readPage());
  const router = express.Router();
  router.get('/', (_request, response) => {
    response.set('Cache-Control', 'no-cache').type('html').send(document);
  });
  router.use(place, express.static(folder, { index: false, redirect: false, immutable: true, maxAge: '1y' }));
  router.use('/page/:version', express.static(folder, { index: false, redirect: false }));
  router.get('/vendor/htm-preact.js', (_request, response) => {
    response.type('text/javascript').sendFile(preactModule);
  });
  router.use('/vendor/yaml', express.static(yamlModules, { index: false, maxAge: '1h' }));
  return router;
};
