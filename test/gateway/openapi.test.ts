import { readdirSync, readFileSync } from 'node:fs';
import request from 'supertest';
import type { z } from 'zod';
import { problems } from '../../src/gateway/problem.js';
import { routes } from '../../src/gateway/routes/index.js';
import { createRig } from './rig.js';

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string; schema: Record<string, unknown> }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
  responses: Record<string, { content?: Record<string, unknown> }>;
}
interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
}

describe('the OpenAPI document', () => {
  const rig = createRig();
  const load = async (): Promise<Document> => (await request(rig.app).get('/openapi.json')).body as Document;

  test('is OpenAPI 3.1 and holds every route with its problems', async () => {
    const document = await load();
    expect(document.openapi).toBe('3.1.0');
    for (const route of routes) {
      const operation = document.paths[route.path]?.[route.method];
      const statuses = [
        ...Object.keys(route.responses),
        ...route.problems.map((code) => String(problems[code].status)),
      ];
      expect(Object.keys(operation?.responses ?? {})).toEqual(expect.arrayContaining(statuses));
    }
  });

  test('gives each operation an id of its own', async () => {
    const ids = Object.values((await load()).paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('says what each group of routes is about', async () => {
    const { tags } = (await load()) as unknown as { tags: { name: string; description: string }[] };
    const described = tags.filter(({ description }) => description.length > 0).map(({ name }) => name);
    expect([...new Set(routes.map(({ tag }) => tag))].filter((tag) => !described.includes(tag))).toEqual([]);
  });

  test('refers only to parts that it has', async () => {
    const document = await load();
    const references = JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
    for (const [, name] of references) expect(Object.keys(document.components.schemas)).toContain(name);
  });

  test('says that wait is a number from 0 to 60', async () => {
    const { parameters } = (await load()).paths['/v1/sessions']!['post']!;
    expect(parameters?.find(({ name }) => name === 'wait')?.schema).toMatchObject({
      type: 'number',
      minimum: 0,
      maximum: 60,
    });
  });

  test('shows examples that its own schemas take', () => {
    for (const route of routes) {
      if (route.bodyExample !== undefined)
        expect((route.body as z.ZodType).safeParse(route.bodyExample).error).toBeUndefined();
      for (const { schema, example } of Object.values(route.responses)) {
        if (example !== undefined) expect(schema.safeParse(example).error).toBeUndefined();
      }
    }
  });

  test('is the only place where a route is added: no file of routes is left out', () => {
    const folder = new URL('../../src/gateway/routes/', import.meta.url);
    const index = readFileSync(new URL('index.ts', folder), 'utf8');
    // These make the routes of every kind; the kinds' own files are looked for.
    const shared = [
      'work-routes.ts',
      'feedback-route.ts',
      'checkpoint-routes.ts',
      'time-travel-routes.ts',
      'export-route.ts',
    ];
    const makes = /\b(route|workRoutes)\(\{/;
    const files = readdirSync(folder).filter(
      (file) => !shared.includes(file) && makes.test(readFileSync(new URL(file, folder), 'utf8')),
    );
    for (const file of files) expect(index).toContain(`./${file.replace('.ts', '.js')}`);
  });
});
