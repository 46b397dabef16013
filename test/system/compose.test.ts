import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { dynamicConfig } from '../../temporal/dynamic-config.js';

interface Service {
  image?: string;
  build?: string;
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  depends_on?: Record<string, unknown>;
  deploy?: { replicas?: number };
}
const text = readFileSync('docker-compose.yml', 'utf8');
const { services } = parse(text, { merge: true }) as { services: Record<string, Service> };
const ours = Object.entries(services).filter(([, { build }]) => build !== undefined);
const exampleVariables = new Set(
  [...readFileSync('.env.example', 'utf8').matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name!),
);

describe('docker-compose.yml', () => {
  test.each(ours)('%s runs an entry that the build makes', (_, { command = [] }) => {
    const script = command.find((word) => word.startsWith('dist/'))!;
    expect(existsSync(script.replace(/^dist\//, '').replace(/\.js$/, '.ts'))).toBe(true);
  });

  test.each(ours)('%s has settings that .env.example explains', (_, { environment = {} }) => {
    expect(Object.keys(environment).filter((name) => !exampleVariables.has(name))).toEqual([]);
  });

  test('takes from .env what .env.example explains', () => {
    const taken = [...text.replace(/^\s*#.*$/gm, '').matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name!);
    expect(taken.filter((name) => !exampleVariables.has(name))).toEqual([]);
  });

  test('mounts files that exist, and volumes that it declares', () => {
    const { volumes } = parse(text) as { volumes: Record<string, unknown> };
    const sources = Object.values(services).flatMap(({ volumes: mounts = [] }) =>
      mounts.map((mount) => mount.split(':')[0]!),
    );
    expect(sources.filter((source) => !(source.startsWith('.') ? existsSync(source) : source in volumes))).toEqual([]);
  });

  test('depends on services that it has', () => {
    const wanted = Object.values(services).flatMap(({ depends_on = {} }) => Object.keys(depends_on));
    expect(wanted.filter((name) => !(name in services))).toEqual([]);
  });

  test('refuses to start the gateway without API keys, since it listens on every address', () => {
    expect(services['gateway']?.environment).toMatchObject({
      HOST: '0.0.0.0',
      PARLEY_API_KEYS: expect.stringMatching(/^\$\{PARLEY_API_KEYS:\?.+\}$/) as string,
    });
  });

  test('runs several workers, on the same bus as the gateway', () => {
    const { gateway, worker } = services;
    expect(worker?.deploy?.replicas).toBeGreaterThan(1);
    expect(worker?.environment?.['PARLEY_BUS_URL']).toBe(gateway?.environment?.['PARLEY_BUS_URL']);
  });

  test("gives the server the embedded one's settings", () => {
    const mounted = parse(readFileSync('temporal/docker/dynamic-config.yaml', 'utf8')) as Record<
      string,
      { value: unknown }[]
    >;
    const values = Object.fromEntries(Object.entries(mounted).map(([key, [first]]) => [key, first?.value]));
    expect(values).toEqual(dynamicConfig);
  });
});

describe('the Dockerfile', () => {
  test('copies what is there and what .dockerignore lets through', () => {
    const allowed = new Set([...readFileSync('.dockerignore', 'utf8').matchAll(/^!(.+)$/gm)].map(([, name]) => name!));
    const copied = [...readFileSync('Dockerfile', 'utf8').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(
      ([, names]) => names!.split(' '),
    );
    expect(copied.filter((name) => !existsSync(name) || !allowed.has(name))).toEqual([]);
  });
});

describe('.env.example', () => {
  test('lists every variable that the configuration reads', () => {
    const read = [...readFileSync('src/settings/environment.ts', 'utf8').matchAll(/^ {4}([A-Z][A-Z_]+):/gm)].map(
      ([, name]) => name!,
    );
    expect(read.length).toBeGreaterThan(10);
    expect(read.filter((name) => !exampleVariables.has(name))).toEqual([]);
  });
});
