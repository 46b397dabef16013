import { z } from 'zod';
import { exportSchema, type OpenExport } from '../../contracts/export.js';
import type { Kind } from '../../contracts/work.js';
import { exportPieces, sealed } from '../../export-file.js';
import { collectionOf } from '../../links.js';
import { knownId, pathAlone } from '../request-parts.js';
import { type AnyRoute, type BytesReply, route } from '../route.js';
import type { Owner } from './kind-routes.js';

async function* piecesOf(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

/** A document as the file that it is kept as. */
export const exportReply = (id: string, open: OpenExport): BytesReply => {
  const document = sealed(open);
  const pieces = exportPieces(document).map((piece) => Buffer.from(piece));
  return {
    status: 200,
    content: piecesOf(pieces),
    sizeBytes: pieces.reduce((sum, { byteLength }) => sum + byteLength, 0),
    name: `${id}.json`,
    etag: document.checksum.whole,
  };
};

/** Of a request for a document, and of the answer to it. */
export const documentParts = {
  ...pathAlone,
  bytes: 'application/json' as const,
  responses: {
    200: {
      description: 'The document, as a file to keep.',
      schema: exportSchema,
      headers: { ETag: 'The checksum of the whole.' },
    },
  },
  access: 'api_key' as const,
  needs: 'operate' as const,
};

/** One kind's work as a document; no worker is needed to read it. `owner` says whose the work is. */
export const exportRoute = (kind: Kind, exampleId: string, owner: Owner): AnyRoute =>
  route({
    method: 'get',
    path: `/v1/${collectionOf(kind)}/{id}/export`,
    summary: `Export a ${kind}`,
    description:
      'Everything that a replay of it needs as one JSON document, while it runs and after it has ended: the request, what went in ' +
      'and came out in order, the checkpoints, the outcome and the histories. Values of `env` and `headers`, members named as ' +
      'secrets and texts in the form of keys are taken out, wherever they stand. `parley replay FILE` reads it.',
    tag: collectionOf(kind),
    params: z.strictObject({ id: z.string().meta({ description: `Id of the ${kind}.`, example: exampleId }) }),
    owner,
    ...documentParts,
    problems: ['unauthorized', 'forbidden', 'not_found', 'wrong_state', 'unavailable'],
    handle: async ({ params: { id } }, { exports }) => exportReply(id, await exports.export(kind, knownId(kind, id))),
  });
