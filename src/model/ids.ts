// Owns the two shapes of id that users see: "T42" is the task whose TaskCreated is record 42,
// "L57" the lease whose LeaseGranted is record 57 (R1). To clients they are opaque.

declare const brand: unique symbol;

/** The number of a task's TaskCreated record. */
export type TaskId = number & { readonly [brand]?: 'TaskId' };
/** The number of a lease's LeaseGranted record; also its fencing token. */
export type LeaseId = number & { readonly [brand]?: 'LeaseId' };

const SHAPE = /^[TL][1-9][0-9]{0,15}$/;

export const formatTaskId = (id: number): string => `T${id}`;
export const formatLeaseId = (id: number): string => `L${id}`;

function parse(text: string, letter: string): number | undefined {
  if (text.length > 17 || text[0] !== letter || !SHAPE.test(text)) return undefined;
  const id = Number(text.slice(1));
  return Number.isSafeInteger(id) ? id : undefined;
}

/** @returns the number in a task id, or undefined when the text has not the shape of one. */
export const parseTaskId = (text: string): TaskId | undefined => parse(text, 'T');
/** @returns the number in a lease id, or undefined when the text has not the shape of one. */
export const parseLeaseId = (text: string): LeaseId | undefined => parse(text, 'L');
