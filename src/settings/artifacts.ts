import { z } from 'zod';

/** Where a bucket is, and who asks (`PARLEY_ARTIFACTS_URL` and the AWS_… variables). */
export interface S3Location {
  bucket: string;
  /** Before every key; empty or ending in a slash. */
  prefix: string;
  /** Of a server that is not Amazon's, such as http://127.0.0.1:9000; null: Amazon's. */
  endpoint: string | null;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | null;
}

type Place = Pick<S3Location, 'bucket' | 'prefix' | 'endpoint'> & { region: string | null };

const example = 's3://my-bucket/parley?endpoint=https://minio.example.org&region=us-east-1';
const known = ['endpoint', 'region'];

/** What is wrong with the URL, in words, or the place that it names. */
const placeOf = (text: string): Place | string => {
  if (!URL.canParse(text)) return `must be a URL such as ${example}`;
  const { protocol, hostname, pathname, searchParams, username } = new URL(text);
  if (protocol !== 's3:') return `must begin with s3:// as in ${example}`;
  if (username !== '') return 'must hold no keys: they go into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(hostname)) return `must name a bucket, as in ${example}`;
  if (!/^[A-Za-z0-9._/-]*$/.test(pathname)) return 'must have a prefix of letters, digits, ".", "_", "-" and "/"';
  const unknown = [...searchParams.keys()].filter((name) => !known.includes(name));
  if (unknown.length > 0) return `takes endpoint and region after the "?"; got ${unknown.join(', ')}`;
  const endpoint = searchParams.get('endpoint');
  if (endpoint !== null && !/^https?:\/\/[^/?#]+\/?$/.test(endpoint))
    return 'must have an endpoint such as https://minio.example.org, without a path';
  const prefix = pathname.replace(/^\/+|\/+$/g, '');
  return {
    bucket: hostname,
    prefix: prefix === '' ? '' : `${prefix}/`,
    endpoint: endpoint?.replace(/\/$/, '') ?? null,
    region: searchParams.get('region'),
  };
};

/** `s3://bucket/prefix?endpoint=…&region=…` */
export const artifactsUrlSchema = z.string().transform((text, context): Place => {
  const place = placeOf(text);
  if (typeof place !== 'string') return place;
  context.addIssue({ code: 'custom', message: place });
  return z.NEVER;
});

/** The usual variables of S3's clients, as far as they are used here. */
export const awsVariables = {
  AWS_ACCESS_KEY_ID: z.string().min(1).optional(),
  AWS_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  AWS_SESSION_TOKEN: z.string().min(1).optional(),
  AWS_REGION: z.string().min(1).optional(),
};

interface Settings {
  PARLEY_ARTIFACTS_URL?: Place | undefined;
  AWS_ACCESS_KEY_ID?: string | undefined;
  AWS_SECRET_ACCESS_KEY?: string | undefined;
  AWS_SESSION_TOKEN?: string | undefined;
  AWS_REGION?: string | undefined;
}

/** The variables without which a bucket cannot be reached. */
export const missingForS3 = (settings: Settings): string[] =>
  settings.PARLEY_ARTIFACTS_URL === undefined
    ? []
    : (['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const).filter((name) => settings[name] === undefined);

/** null: artifacts lie in the data folder. */
export const s3LocationOf = (settings: Settings): S3Location | null => {
  const {
    PARLEY_ARTIFACTS_URL: place,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  } = settings;
  if (!place || !accessKeyId || !secretAccessKey) return null;
  return {
    ...place,
    region: place.region ?? settings.AWS_REGION ?? 'us-east-1',
    accessKeyId,
    secretAccessKey,
    sessionToken: settings.AWS_SESSION_TOKEN ?? null,
  };
};
