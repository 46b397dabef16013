import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FanOutStatus } from '../../src/contracts/fan-out-status.js';
import { aFanOut, aTask } from '../support/fan-out-bodies.js';
import { describeWithSandbox } from '../support/describe-with.js';
import { type Product, startProduct } from '../support/product.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product?.stop());

const program = (id: string, script: string) => aTask(id, { adapter: { kind: 'command', argv: ['sh', '-c', script] } });

/** Each tries to read what is in t1's file, and to write into it; what it reads, it says. */
const ways: Record<string, (file: string) => string> = {
  'by "..": from its own folder': () => 'cat ../t1/output/mine; echo bad >> ../t1/output/mine',
  'by "..": from deep below': () => 'cd scratch; cat ../../t1/output/mine; echo bad >> ../../t1/output/mine',
  'by an absolute path': (file) => `cat ${file}; echo bad >> ${file}`,
  'by a symbolic link': (file) => `ln -s ${file} scratch/l; cat scratch/l; echo bad >> scratch/l; rm -f scratch/l`,
  'by a symbolic link to the folder': () => 'ln -s ../../t1 scratch/t; cat scratch/t/output/mine; rm -f scratch/t',
  'by a hard link': (file) =>
    `ln ${file} scratch/h; cat scratch/h; echo bad >> scratch/h; ln ../t1/output/mine scratch/i; cat scratch/i`,
  // t1 holds its file open all the while.
  'by an open handle': () =>
    'for n in 1 2 3 4 5 6 7 8; do for f in /proc/[0-9]*/fd/* /proc/[0-9]*/root/tmp; do case $f in */0|*/1|*/2) ;; *) [ -f $f ] && head -c 100 $f && echo bad >> $f;; esac; done; sleep 0.2; done',
};

describeWithSandbox('a worker does not reach the folder of another', () => {
  const id = 'isolated';
  let status: FanOutStatus;
  let file: string;
  beforeAll(async () => {
    file = join(product.data, 'namespaces', id, 'a', 't1', 'output', 'mine');
    await product.fanOuts.start({
      ...aFanOut({
        barrier: { timeout_ms: 600_000 },
        fan_out: {
          tasks: [
            program('t1', 'exec 3> output/mine; echo secret >&3; sleep 600'),
            ...Object.values(ways).map((way, index) =>
              program(
                `way${index}`,
                `sleep 0.5; ( ${way(file)}; ) > output/read 2>&1; grep -c secret output/read; true`,
              ),
            ),
          ],
        },
      }),
      id,
    });
    // t1 runs until it is cancelled, so that its handle is open while the others try.
    const triesAreOver = ({ barrier }: FanOutStatus): boolean => barrier.waiting === 1;
    status = await product.fanOuts.until(id, triesAreOver);
    await product.post(`/v1/fan-outs/${id}/cancel`);
  }, 90_000);

  test.each(Object.keys(ways))('%s', (way) => {
    const task = status.tasks.find(({ task_id: name }) => name === `way${Object.keys(ways).indexOf(way)}`);
    expect(task).toMatchObject({ state: 'COMPLETED', output: '0' });
  });
  test('and what it had written is as it was', () => {
    expect(readFileSync(file, 'utf8')).toBe('secret\n');
  });
});
