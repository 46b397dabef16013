import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Checkpoint, CheckpointList } from '../../src/contracts/checkpoint.js';
import { aFanOut, aTask } from '../support/fan-out-bodies.js';
import { type Product, startProduct } from '../support/product.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product?.stop());

/** Leaves what `command` prints. */
const writes = (name: string, command: string) => ({
  kind: 'command' as const,
  argv: ['sh', '-c', `${command} > output/${name}; echo done`],
});
const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describe('what workers left', () => {
  let path: string;
  let folder: string;
  let last: number;
  beforeAll(async () => {
    const { id } = await product.fanOuts.run(
      aFanOut({
        fan_out: {
          tasks: [
            aTask('small', { adapter: writes('note', 'printf "a note"') }),
            aTask('large', { adapter: writes('book', "printf 'x%.0s' $(seq 20000)") }),
          ],
        },
      }),
    );
    path = `/v1/fan-outs/${id}`;
    folder = join(product.data, 'namespaces', id);
    last = ((await product.get(`${path}/checkpoints`)).body as CheckpointList).items.at(-1)!.sequence_num;
  });
  const inspect = async (): Promise<Checkpoint> =>
    (await product.get(`${path}/checkpoints/${last}`)).body as Checkpoint;
  const fileOf = (name: string): string => filesBelow(folder).find((file) => file.endsWith(`output/${name}`))!;
  const stored = (hash: string): string =>
    filesBelow(join(product.data, 'artifacts')).find((file) => file.includes(hash.slice('sha256:'.length + 4)))!;
  const restored = async () => {
    const answer = await product.post(`${path}/restore`, { checkpoint: last, reason: 'files' });
    // Its state says that it has ended, as it had at that point; the run closes once the files are there.
    await product.client.workflow.getHandle(path.split('/').at(-1)!).result();
    return answer;
  };

  test('stands in a checkpoint with path, hash and size, and whole where it is small', async () => {
    const { artifacts, state } = await inspect();
    expect(
      artifacts.map(({ path: name, size_bytes, inline }) => [name.split('/').slice(1).join('/'), size_bytes, inline]),
    ).toEqual([
      ['small/output/note', 6, true],
      ['large/output/book', 20_000, false],
    ]);
    expect(Buffer.from(artifacts[0]!.content!, 'base64').toString()).toBe('a note');
    expect(artifacts[1]).not.toHaveProperty('content');
    expect(state.session_context.artifact_refs).toEqual(artifacts.map(({ path: name }) => name));
  });

  test('is put back by a restore, whether it was changed or removed', async () => {
    const [note, book] = [fileOf('note'), fileOf('book')];
    writeFileSync(note, 'another note');
    rmSync(book);
    expect((await restored()).status).toBe(202);
    expect(readFileSync(note, 'utf8')).toBe('a note');
    expect(readFileSync(book, 'utf8')).toBe('x'.repeat(20_000));
  });

  test('that is not what it was is reported, and nothing is restored', async () => {
    const { artifacts } = await inspect();
    const { hash } = artifacts[0]!;
    writeFileSync(stored(hash), 'a lie');
    expect((await inspect()).artifacts[0]).toMatchObject({ hash, fault: 'corrupt' });
    expect(await restored()).toMatchObject({ status: 500, body: { code: 'corrupt' } });
    rmSync(stored(hash));
    expect((await inspect()).artifacts[0]).toMatchObject({ hash, fault: 'gone' });
    expect(await restored()).toMatchObject({ status: 410, body: { code: 'gone' } });
  });
});
