import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ParleyError } from '../../src/domain/errors.js';
import type { ChainSeal } from '../../src/domain/audit-chain.js';

/** The private side of a chain. */
export interface SigningKey {
  /** Id of the chain that this key signs: the first 16 digits of the sha256 of its public key. */
  chain: string;
  /** SPKI in PEM. */
  publicKey: string;
  /** Ed25519 over the 32 bytes of a sha256, base64. */
  sign: (hash: string) => string;
}

export const sha256Hex = (text: string): string => createHash('sha256').update(text).digest('hex');

const publicKeyOf = (pem: string): KeyObject => {
  const key = createPublicKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`must be an Ed25519 key; got ${key.asymmetricKeyType}`);
  return key;
};

/** The chain that a public key signs. @throws Error for what is no Ed25519 key in PEM */
export const chainOf = (publicKey: string): string =>
  createHash('sha256')
    .update(publicKeyOf(publicKey).export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16);

/** What checks a chain by its public key. @throws Error for what is no Ed25519 key in PEM */
export const sealOf = (publicKey: string): ChainSeal => {
  const key = publicKeyOf(publicKey);
  return {
    hash: sha256Hex,
    isSigned: (hash, signature) => verify(null, Buffer.from(hash, 'hex'), key, Buffer.from(signature, 'base64')),
  };
};

const keyFrom = (file: string): SigningKey => {
  let privateKey: KeyObject;
  let publicKey: string;
  try {
    privateKey = createPrivateKey(readFileSync(file));
    publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
    publicKeyOf(publicKey);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ParleyError(
      'invalid_request',
      `${file} must hold the audit log's private key, Ed25519 in PEM: ${why}. ` +
        'Make one with: openssl genpkey -algorithm ed25519 -out FILE',
    );
  }
  return {
    chain: chainOf(publicKey),
    publicKey,
    sign: (hash) => sign(null, Buffer.from(hash, 'hex'), privateKey).toString('base64'),
  };
};

const madeKeyFile = (folder: string): string => join(folder, 'signing-key.pem');

/** Makes the key where there is none: of several workers that start together one makes it, and all read that one. */
const makeKey = (file: string): void => {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const { privateKey } = generateKeyPairSync('ed25519');
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' });
  try {
    linkSync(draft, file); // unlike a rename, never replaces the key of a chain that has begun
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
};

const isThere = (file: string): boolean => {
  try {
    readFileSync(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
};

/**
 * The key that signs this installation's chain: the configured one, else the one in the audit folder, made at first use and
 * readable by its owner only.
 * @throws ParleyError invalid_request when the file holds no such key
 */
export const loadSigningKey = (folder: string, keyFile: string | null): SigningKey => {
  if (keyFile !== null) return keyFrom(keyFile);
  const file = madeKeyFile(folder);
  if (!isThere(file)) makeKey(file);
  return keyFrom(file);
};

/** The same without making one: null where there is none. */
export const findSigningKey = (folder: string, keyFile: string | null): SigningKey | null =>
  keyFile !== null || isThere(madeKeyFile(folder)) ? loadSigningKey(folder, keyFile) : null;
