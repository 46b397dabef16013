import { admit } from '../../src/domain/admission.js';
import { openWorkAccount } from '../../src/domain/work-account.js';
import { control } from '../../src/domain/window.js';

type Call = Parameters<typeof admit>[0];
const fitting: Call = {
  estimate: { tokens: 10, usdMicros: 10 },
  ledger: openWorkAccount({ maxTokens: 10, maxUsdMicros: 10 }, 0),
  window: { maxParallel: 1, maxTokens: 10, maxUsdMicros: 10 },
  inFlight: 0,
  used: { tokens: 0, usdMicros: 0 },
  faults: [],
  control: null,
};
const draining = control(null, { type: 'control', status: 'DRAINING' }, 0);
const failing: Record<string, Partial<Call>> = {
  EWINDOW: { inFlight: 1 },
  EBUDGET: { ledger: openWorkAccount({ maxTokens: 9, maxUsdMicros: null }, 0) },
  ESEC: { faults: [{ code: 'ESEC', message: 'tenant may not use gold' }] },
  EDRAINING: { control: draining },
};
const codes = (change: Partial<Call>): string[] => admit({ ...fitting, ...change }).map((fault) => fault.code);

describe('admission', () => {
  test('of a call that fits exactly finds no fault', () => {
    expect(admit(fitting)).toEqual([]);
  });
  test.each(['READY', 'BUSY', 'PAUSE'] as const)('leaves %s to the window', (status) => {
    expect(codes({ control: control(null, { type: 'control', status }, 0) })).toEqual([]);
  });
  const guards = Object.keys(failing);
  test.each(
    Array.from({ length: 2 ** guards.length - 1 }, (_, index) =>
      guards.filter((_guard, bit) => ((index + 1) >> bit) % 2 === 1),
    ).map((failed) => [failed]),
  )('names exactly the guards that failed: %j', (failed) => {
    expect(codes(Object.assign({}, ...failed.map((guard) => failing[guard])))).toEqual(failed);
  });
  test('names each component of a window and of a budget', () => {
    const window = { maxParallel: 0, maxTokens: 0, maxUsdMicros: 0 };
    const ledger = openWorkAccount({ maxTokens: 0, maxUsdMicros: 0 }, 0);
    expect(codes({ window, ledger })).toEqual(['EWINDOW', 'EWINDOW', 'EWINDOW', 'EBUDGET', 'EBUDGET']);
  });
  test.each(['ESEC', 'EBUDGET'] as const)('says what the setup already holds against it: %s', (code) => {
    const fault = { code, message: 'no gold' };
    expect(admit({ ...fitting, faults: [fault] })).toEqual([fault]);
  });
});
