import { readFileSync } from 'node:fs';

interface Entry {
  version?: string;
  resolved?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}
const read = (file: string): string => readFileSync(new URL(file, `file://${process.cwd()}/`), 'utf8');
const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Entry> };
const manifest = JSON.parse(read('package.json')) as Required<Pick<Entry, 'dependencies' | 'devDependencies'>>;

/** Where Node would look for `name` from the package at `from`, innermost first. */
function* places(from: string, name: string): Generator<string> {
  for (let at = from; ; at = at.slice(0, Math.max(at.lastIndexOf('/node_modules/'), 0))) {
    yield at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (at === '') return;
  }
}

describe('the lockfile', () => {
  test('holds the binaries of every system, so that npm ci works on all of them', () => {
    const missing = Object.entries(packages).flatMap(([from, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => ![...places(from, name)].some((place) => place in packages))
        .map((name) => `${from} -> ${name}`),
    );
    expect(missing).toEqual([]);
  });

  test('names no registry: each user installs from their own', () => {
    expect(Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
    // Links to sponsors are no registry.
    const withoutFunding = JSON.stringify(packages, (key, value: unknown) => (key === 'funding' ? undefined : value));
    expect(withoutFunding.match(/https?:[^"]*/g)).toBeNull();
  });

  test('stands for the same exact versions as package.json', () => {
    const direct = { ...manifest.dependencies, ...manifest.devDependencies };
    const locked = Object.fromEntries(
      Object.keys(direct).map((name) => [name, packages[`node_modules/${name}`]?.version]),
    );
    expect(locked).toEqual(direct);
  });

  test.each(['protobufjs', '@temporalio/common', '@temporalio/proto', '@temporalio/client'])(
    'holds %s once for the SDK',
    (name) => {
      const copies = Object.keys(packages).filter(
        // gRPC and OpenTelemetry speak with copies of their own, which Temporal never sees.
        (path) => path.endsWith(`node_modules/${name}`) && !/@(grpc|opentelemetry)\//.test(path),
      );
      expect(copies).toEqual([`node_modules/${name}`]);
    },
  );
});
