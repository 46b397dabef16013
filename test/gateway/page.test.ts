import { readdirSync } from 'node:fs';
import request from 'supertest';
import { createRig } from './rig.js';

const { app } = createRig();
const get = (path: string): request.Test => request(app).get(path);
const document = async (): Promise<string> => (await get('/').expect('Content-Type', /html/)).text;
const named = (html: string, pattern: RegExp): string[] => [...html.matchAll(pattern)].map(([, path]) => path!);

describe('the page as the gateway serves it', () => {
  test('names every module in its document, so that a browser asks for all of them at once', async () => {
    const modules = readdirSync('src/page').filter((name) => name.endsWith('.js'));
    const preloaded = named(await document(), /<link rel="modulepreload" href="([^"]+)"/g);
    expect(preloaded[0]).toBe('/vendor/htm-preact.js');
    expect(preloaded.slice(1).map((path) => path.split('/').at(-1))).toEqual(modules.sort());
  });

  test('is asked for again each time, and what it names is kept for good', async () => {
    const { headers, text } = await get('/');
    expect(headers['cache-control']).toBe('no-cache');
    const paths = named(text, /(?:href|src)="(\/page\/[^"]+)"/g);
    expect(paths.length).toBeGreaterThan(50);
    for (const path of paths)
      await get(path).expect(200).expect('Cache-Control', 'public, max-age=31536000, immutable');
  });

  test('serves what a gateway of another version has named as its own, not to be kept', async () => {
    const { headers, text } = await get('/page/0123456789abcdef/api.js').expect(200);
    expect(headers['cache-control']).toBe('public, max-age=0');
    expect(text).toBe((await get(named(await document(), /href="([^"]+\/api\.js)"/g)[0]!)).text);
  });

  test.each(['/page', '/page/0123456789abcdef', '/page/0123456789abcdef/nothing.js', '/app.js'])(
    'has nothing at %s',
    async (path) => {
      await get(path)
        .expect(404)
        .expect('Content-Type', /problem\+json/);
    },
  );
});
