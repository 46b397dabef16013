import { ConfigError, loadConfig } from '../../src/config.js';

const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'a secret' };
const faultsOf = (environment: Record<string, string>): string[] => {
  try {
    loadConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(({ variable, message }) => `${variable} ${message}`);
    throw error;
  }
};

describe('PARLEY_ARTIFACTS_URL', () => {
  test.each([
    ['s3://bucket', { bucket: 'bucket', prefix: '', endpoint: null, region: 'us-east-1' }],
    ['s3://bucket/', { bucket: 'bucket', prefix: '', endpoint: null, region: 'us-east-1' }],
    ['s3://bucket/a/b/?region=eu-west-1', { bucket: 'bucket', prefix: 'a/b/', endpoint: null, region: 'eu-west-1' }],
    [
      's3://bucket/a?endpoint=http://127.0.0.1:9000/',
      { bucket: 'bucket', prefix: 'a/', endpoint: 'http://127.0.0.1:9000', region: 'us-east-1' },
    ],
  ])('%s names a place', (url, place) => {
    expect(loadConfig({ ...keys, PARLEY_ARTIFACTS_URL: url }).s3).toEqual({
      ...place,
      accessKeyId: 'id',
      secretAccessKey: 'a secret',
      sessionToken: null,
    });
  });

  test.each([
    ['bucket', /must be a URL such as s3:/],
    ['https://bucket/a', /must begin with s3:/],
    ['s3://id:secret@bucket', /must hold no keys/],
    ['s3://B', /must name a bucket/],
    ['s3://bucket/a b', /must have a prefix of letters/],
    ['s3://bucket?endpont=http://x', /takes endpoint and region after the "\?"; got endpont/],
    ['s3://bucket?endpoint=127.0.0.1:9000', /must have an endpoint such as https/],
    ['s3://bucket?endpoint=http://x/path', /without a path/],
  ])('%s is refused in words', (url, message) => {
    expect(faultsOf({ ...keys, PARLEY_ARTIFACTS_URL: url })).toEqual([expect.stringMatching(message)]);
  });

  test('without keys names the variables that hold them', () => {
    expect(faultsOf({ PARLEY_ARTIFACTS_URL: 's3://bucket' })).toEqual([
      expect.stringContaining('AWS_ACCESS_KEY_ID must be set'),
      expect.stringContaining('AWS_SECRET_ACCESS_KEY must be set'),
    ]);
  });

  test('left out, everything lies in the data folder, whatever keys there are', () => {
    expect(loadConfig(keys).s3).toBeNull();
  });
});

describe('the place that processes apart share', () => {
  test.each([
    [{}, false],
    [{ PARLEY_DATA: '/data' }, true],
    [{ ...keys, PARLEY_ARTIFACTS_URL: 's3://bucket' }, true],
  ])('with %j is named: %s', (environment, isPlaceNamed) => {
    expect(loadConfig(environment).payloads).toEqual({ inlineBytes: 65_536, maxBytes: 67_108_864, isPlaceNamed });
  });
});
