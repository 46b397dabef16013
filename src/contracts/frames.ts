import { z } from 'zod';

/** Tokens and money a call used. `usd_micros` is millionths of a US dollar (spec 01, window triplet). */
export const usageSchema = z
  .strictObject({
    tokens: z.number().int().min(0).meta({ description: 'Tokens used, prompt and answer together.' }),
    usd: z.number().min(0).optional().meta({ description: 'US dollars; 0 when left out.' }),
  })
  .meta({ id: 'FrameUsage' });

/** What an agent or the router is willing to carry: calls at once, tokens and millionths of a dollar (spec 01 "Frames"). */
export const windowSchema = z
  .strictObject({
    max_parallel: z.number().int().optional(),
    max_tokens: z.number().int().optional(),
    max_usd_micros: z.number().int().optional(),
  })
  .meta({ id: 'Window', description: 'A missing member suggests nothing; a negative one counts as 0.' });

const msgSeq = z.number().int().min(1).meta({ description: 'Message number in its lane, from 1.' });
const fragSeq = z.number().int().min(0).meta({ description: 'Fragment number in its message, from 0.' });

export const controlStatusSchema = z.enum(['READY', 'BUSY', 'PAUSE', 'DRAINING']);

const anyJson = z.json();

export const partialFrameSchema = z
  .strictObject({
    type: z.literal('partial'),
    msg_seq: msgSeq,
    frag_seq: fragSeq.default(0),
    last: z.boolean().default(true).meta({ description: 'Whether this fragment ends its message.' }),
    text: z.string(),
    checksum: z
      .string()
      .regex(/^(sha256:)?[0-9a-f]{64}$/, 'must be the sha256 of the text in lower-case hex')
      .optional()
      .meta({ description: 'sha256 of the text; a fragment that does not match is refused.' }),
  })
  .meta({ id: 'PartialFrame' });

export const finalFrameSchema = z
  .strictObject({
    type: z.literal('final'),
    msg_seq: msgSeq,
    text: z.string().optional(),
    json: anyJson.optional(),
    usage: usageSchema.optional(),
  })
  .refine((frame) => frame.text === undefined || frame.json === undefined, {
    path: ['json'],
    message: 'give text or json, not both',
  })
  .meta({ id: 'FinalFrame', description: 'The whole answer; with neither text nor json, the partials joined.' });

export const failFrameSchema = z
  .strictObject({
    type: z.literal('fail'),
    msg_seq: msgSeq.optional(),
    code: z.string().min(1).max(64),
    message: z.string().max(4000),
    retryable: z.boolean().default(false),
  })
  .meta({ id: 'FailFrame' });

export const controlFrameSchema = z
  .strictObject({ type: z.literal('control'), status: controlStatusSchema, window: windowSchema.optional() })
  .meta({ id: 'ControlFrame' });

/** What an adapter speaks, whatever it is (spec 01 "Frames"). */
export const frameSchema = z
  .discriminatedUnion('type', [partialFrameSchema, finalFrameSchema, failFrameSchema, controlFrameSchema])
  .meta({ id: 'Frame' });

export const postFramesSchema = z
  .strictObject({ frames: z.array(frameSchema).min(1).max(1000) })
  .meta({ id: 'PostFrames' });

export const framesAnswerSchema = z
  .strictObject({
    accepted: z.number().int(),
    duplicates: z.number().int(),
    late: z.number().int(),
    refused: z.number().int().meta({ description: 'Fragments whose checksum, size or number did not fit.' }),
    ack: z
      .strictObject({ msg_seq: z.number().int(), frag_seq: z.number().int() })
      .meta({ description: 'Highest message and fragment up to which nothing is missing; frag_seq -1: none yet.' }),
    missing: z
      .array(z.strictObject({ msg_seq: z.number().int(), frag_seq: z.number().int() }))
      .meta({ description: 'Fragments to send again, known once the last one of their message is.' }),
    window: windowSchema,
    state: z
      .enum(['STREAMING', 'PAUSED', 'ENDED'])
      .meta({ description: 'Whether the lane takes more: PAUSED only what fits its buffer, ENDED nothing.' }),
  })
  .meta({ id: 'FramesAnswer' });

export type Usage = z.infer<typeof usageSchema>;
export type Window = z.infer<typeof windowSchema>;
export type ControlStatus = z.infer<typeof controlStatusSchema>;
export type PartialFrame = z.infer<typeof partialFrameSchema>;
export type FinalFrame = z.infer<typeof finalFrameSchema>;
export type FailFrame = z.infer<typeof failFrameSchema>;
export type ControlFrame = z.infer<typeof controlFrameSchema>;
export type Frame = z.infer<typeof frameSchema>;
export type FramesAnswer = z.infer<typeof framesAnswerSchema>;
export type Json = z.infer<typeof anyJson>;
