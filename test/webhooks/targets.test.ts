import type { WebhookReach } from '../../src/domain/webhook/setup.js';
import { hostOf, isReachable, setUpWebhooks } from '../../src/webhook-targets.js';

describe('an address', () => {
  const reaches: readonly WebhookReach[] = ['public', 'local', 'any'];
  test.each<[string, boolean, boolean]>([
    // address, in public, in local
    ['8.8.8.8', true, true],
    ['1.1.1.1', true, true],
    ['172.15.0.1', true, true],
    ['172.32.0.1', true, true],
    ['2606:4700:4700::1111', true, true],
    ['2a00:1450:4001:80b::200e', true, true],
    ['127.0.0.1', false, true],
    ['127.255.255.254', false, true],
    ['10.0.0.1', false, true],
    ['172.16.0.1', false, true],
    ['172.31.255.255', false, true],
    ['192.168.1.1', false, true],
    ['::1', false, true],
    ['fc00::1', false, true],
    ['fd12:3456::1', false, true],
    ['::ffff:10.0.0.1', false, true],
    ['::ffff:127.0.0.1', false, true],
    ['169.254.169.254', false, false],
    ['::ffff:169.254.169.254', false, false],
    ['::ffff:a9fe:a9fe', false, false],
    ['fe80::1', false, false],
    ['fe80::1%eth0', false, false],
    ['0.0.0.0', false, false],
    ['100.64.0.1', false, false],
    ['192.0.0.8', false, false],
    ['192.0.2.1', false, false],
    ['198.18.0.1', false, false],
    ['198.51.100.1', false, false],
    ['203.0.113.1', false, false],
    ['224.0.0.1', false, false],
    ['255.255.255.255', false, false],
    ['::', false, false],
    ['ff02::1', false, false],
    ['64:ff9b::a00:1', false, false],
    ['2001::1', false, false],
    ['2001:db8::1', false, false],
    ['2002:a00:1::1', false, false],
    ['::ffff:8.8.8.8', true, true],
  ])('%s is reachable in public: %s, locally: %s, and always where the host is named', (address, inPublic, locally) => {
    expect(reaches.map((reach) => isReachable(address, reach))).toEqual([inPublic, locally, true]);
  });

  test.each(['', 'localhost', '999.1.1.1', '10.0.0'])('"%s" is none', (text) => {
    expect(reaches.map((reach) => isReachable(text, reach))).toEqual([false, false, false]);
  });
});

describe('the host of a URL', () => {
  test.each([
    ['http://2130706433/', '127.0.0.1'],
    ['http://0x7f.1/', '127.0.0.1'],
    ['http://017700000001/', '127.0.0.1'],
    ['http://[::1]:80/', '::1'],
    ['http://HOOKS.Example.com./x', 'hooks.example.com'],
    ['http://[::ffff:10.0.0.1]/', '::ffff:a00:1'],
  ])('%s is %s', (url, host) => expect(hostOf(url)).toBe(host));
});

describe('a webhook of a request', () => {
  const policy = { hosts: null, retryMs: 5, isLocal: false };
  const faultsOf = (url: string, over: Partial<Parameters<typeof setUpWebhooks>[2]> = {}): string[] =>
    setUpWebhooks([{ url: 'https://fine.example.com' }, { url }], '/v1/sessions/s', {
      ...policy,
      ...(over.hosts ? { hosts: ['fine.example.com', ...over.hosts] } : {}),
      ...(over.isLocal ? { isLocal: true } : {}),
    }).faults.map(({ path, message }) => `${path}: ${message}`);
  const privately =
    /^webhooks\[1\]\.url: must not be a private, link-local or reserved address, .* PARLEY_WEBHOOK_HOSTS; got /;

  test.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://localhost/',
    'http://a.localhost/',
    'http://10.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://169.254.169.254/latest/meta-data/',
  ])('at %s is refused', (url) => {
    expect(faultsOf(url)).toEqual([expect.stringMatching(privately)]);
  });

  test.each(['https://hooks.example.com/x', 'http://8.8.8.8/', 'http://a-name.of-somebody.example/'])(
    'at %s is taken',
    (url) => expect(faultsOf(url)).toEqual([]),
  );

  test('at a private address is taken by a gateway that only this machine reaches, at a link-local one never', () => {
    expect(faultsOf('http://127.0.0.1:9/', { isLocal: true })).toEqual([]);
    expect(faultsOf('http://localhost:9/', { isLocal: true })).toEqual([]);
    expect(faultsOf('http://169.254.169.254/', { isLocal: true })).toEqual([expect.stringMatching(privately)]);
  });

  test.each<[string, boolean]>([
    ['https://hooks.corp.example/x', true],
    ['https://HOOKS.corp.example./x', true],
    ['https://a.b.wild.example/', true],
    ['https://wild.example/', false],
    ['https://notwild.example/', false],
    ['https://hooks.corp.example.evil.example/', false],
    ['https://hooks.corp.example@evil.example/', false],
    ['http://10.0.0.7:8080/', true],
    ['http://10.0.0.8/', false],
    ['https://8.8.8.8/', false],
  ])('at %s, where the operator names hosts: %s', (url, isTaken) => {
    const faults = faultsOf(url, { hosts: ['hooks.corp.example', '*.wild.example', '10.0.0.7'] });
    expect(faults).toEqual(
      isTaken
        ? []
        : [
            expect.stringMatching(
              /^webhooks\[1\]\.url: must be at a host that the operator allows by PARLEY_WEBHOOK_HOSTS \(.+\); got /,
            ),
          ],
    );
  });

  test('is kept with what the operator allows', () => {
    const [first, second] = setUpWebhooks(
      [
        { url: 'https://a.example', secret: { env: 'PARLEY_WEBHOOK_SECRET' }, events: ['failed'] },
        { url: 'https://b.example' },
      ],
      '/v1/sessions/s',
      policy,
    ).webhooks;
    expect(first).toEqual({
      url: 'https://a.example',
      secretEnv: 'PARLEY_WEBHOOK_SECRET',
      events: ['failed'],
      reach: 'public',
      retryMs: 5,
      source: '/v1/sessions/s',
    });
    expect(second).toMatchObject({
      secretEnv: null,
      events: ['completed', 'failed', 'cancelled', 'awaiting_feedback'],
    });
  });
});
