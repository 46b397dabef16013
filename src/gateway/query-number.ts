import { z } from 'zod';

/** A number in a query or header, where everything is text; what is no number is left for the schema to refuse as given. */
export const textNumber = <S extends z.ZodNumber>(schema: S) =>
  z.preprocess((given) => (typeof given === 'string' && /^-?\d+(\.\d+)?$/.test(given) ? Number(given) : given), schema);
