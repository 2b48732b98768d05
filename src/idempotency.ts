export { Idempotent, type IdempotentOptions } from './idempotency/idempotent.js'
export { createIdempotencyTable, IdempotencyRecord } from './idempotency/record.js'
