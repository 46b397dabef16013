import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mostOf } from '../../activities/budgets/most.js';
import { Use } from '../../activities/budgets/use.js';
import { tenantBudgetSettings } from '../../src/settings/budgets.js';
import { loadConfig } from '../../src/config.js';
import { adapterSchema } from '../../src/contracts/adapter.js';
import { createOperator } from '../../src/operator.js';
import { createPrices } from '../../src/pricing.js';
import { amount } from '../support/ledger-play.js';
import { scratchFolder } from '../support/scratch.js';

const settingsOf = (text: string) => loadConfig({ PARLEY_TENANT_BUDGETS: text }).tenantBudgets;

describe('PARLEY_TENANT_BUDGETS', () => {
  const text =
    '{"acme":{"max_usd":12.5,"per":"month","warn_at":0.75},"*":{"max_tokens":100,"when_used_up":"ask","lease_ms":9000}}';

  test('is JSON, or a file that holds it', () => {
    const file = join(scratchFolder(), 'budgets.json');
    writeFileSync(file, text);
    expect(settingsOf(file)).toEqual(settingsOf(text));
    expect(settingsOf('')).toEqual({});
  });
  test.each([
    ['acme', { limits: { maxUsdMicros: 12_500_000, maxTokens: null }, period: 'month', leaseMs: 120_000, asks: false }],
    ['beta', { limits: { maxUsdMicros: null, maxTokens: 100 }, period: 'ever', leaseMs: 9_000, asks: true }],
    ['toString', { tenant: 'toString', cheaperPercent: null, warnPercent: 80 }],
  ])('says for %s %j', (tenant, expected) => {
    expect(tenantBudgetSettings(settingsOf(text), tenant)).toMatchObject(expected);
  });
  test('says nothing of a tenant that it does not name', () => {
    expect(tenantBudgetSettings(settingsOf('{"acme":{"max_usd":1}}'), 'beta')).toBeNull();
  });
  test('tells every fault at once', () => {
    const faulty =
      '{"a b":{"max_usd":1},"c":{},"d":{"max_usd":-1,"per":"week","lease_ms":10,"limit":3},"e":{"max_usd":1,"cheaper_at":0.5},"f":{"max_usd":1,"cheaper_models":{"a":"b"}}}';
    for (const fault of [
      /a b: must be the name of a tenant, or "\*"/,
      /c\.max_usd: must be given, or max_tokens/,
      /d\.max_usd: /,
      /d\.per: /,
      /d\.lease_ms: /,
      /d: .*limit/,
      /e\.cheaper_models: must name a model for cheaper_at/,
      /f\.cheaper_at: must be given for cheaper_models/,
    ])
      expect(() => settingsOf(faulty)).toThrow(fault);
    expect(() => settingsOf('{"a b":{"max_usd":1}}')).toThrow(/a b: must be the name of a tenant, or "\*"/);
    expect(() => settingsOf('{"acme"')).toThrow(/must be JSON such as/);
    expect(() => settingsOf('/none/such.json')).toThrow(/ENOENT/);
  });
});

describe('what is held for a call', () => {
  const prices = createPrices({ 'lab/*': { input: 1, output: 10 } });
  const operator = createOperator(loadConfig({}), prices);
  const asked = { prompt: 'x'.repeat(200), instructions: 'y'.repeat(100), maxTokens: null };
  const most = (adapter: object, limitsTokens = true) =>
    mostOf(asked, adapterSchema.parse(adapter), { prices, operator, rules: { limitsTokens, cheaperModels: {} } });

  test('of a model is the most that it can use, at its price', () => {
    const model = { kind: 'openai-compatible', provider: 'lab', model: 'm', base_url: 'http://127.0.0.1/v1' };
    expect(most({ ...model, max_tokens: 50 })).toEqual({ amount: amount(200, 650), isCapped: true });
    expect(most(model).amount.tokens).toBe(150 + 1_024);
  });
  test.each([
    [{ kind: 'command', argv: ['true'] }, true, false],
    [{ kind: 'command', argv: ['true'] }, false, true],
    [{ kind: 'http', url: 'http://127.0.0.1' }, false, false],
    [{ kind: 'simulated' }, true, true],
  ])('of %j, where tokens are limited: %s, bounds it: %s', (adapter, limitsTokens, isCapped) => {
    expect(most(adapter, limitsTokens).isCapped).toBe(isCapped);
  });
});

describe('what a call has used', () => {
  const partial = (text: string) => ({ type: 'partial' as const, msg_seq: 1, frag_seq: 0, last: true, text });
  test('is what its agent states', () => {
    const use = new Use('x'.repeat(40), amount(100, 1_000));
    use.hear(partial('12345678'));
    expect(use.amount()).toEqual(amount(12, 120));
    use.hear({ type: 'final', msg_seq: 2, text: '1234', usage: { tokens: 7, usd: 0.000_5 } });
    expect(use.amount()).toEqual(amount(7, 500));
  });
  test('is told by its texts else: a final that says something stands for the partials before it', () => {
    const use = new Use('x'.repeat(40), amount(0));
    use.hear(partial('12345678'));
    use.hear({ type: 'final', msg_seq: 2, json: { a: 1 } });
    expect(use.amount()).toEqual(amount(12));
  });
});
