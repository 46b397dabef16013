/** Turns texts into vectors whose cosine says how alike the texts are. */
export interface Embedder {
  /** Kept beside each vector: only vectors of the same embedder are compared. Another algorithm needs another name. */
  readonly name: string;
  /** A cosine below this says nothing: texts without anything in common reach it. */
  readonly unrelatedBelow: number;
  /** One vector of length 1 for each text, in their order; all have the same dimensions. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
  close?(): Promise<void>;
}

/** Hears of what went wrong in memory and stopped nothing. */
export type OnError = (error: unknown, what: string) => void;

/** The vectors, or null when the embedder fails, which is told: memory keeps and finds texts without them. */
export const tryEmbed = async (
  embedder: Embedder,
  texts: readonly string[],
  onError: OnError,
  signal?: AbortSignal,
): Promise<Float32Array[] | null> => {
  try {
    return await embedder.embed(texts, signal);
  } catch (error) {
    if (signal?.aborted) throw error;
    onError(error, 'no vectors for memory: until there are, it is searched by words alone');
    return null;
  }
};

/** -1 to 1; both of length 1 and of the same dimensions. */
export const dot = (a: Float32Array, b: Float32Array): number => {
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) sum += a[index]! * b[index]!;
  return sum;
};

/** Scaled to length 1; a vector of zeros stays one. */
export const unit = (vector: Float32Array): Float32Array => {
  const length = Math.sqrt(dot(vector, vector));
  return length === 0 ? vector : vector.map((value) => value / length);
};
