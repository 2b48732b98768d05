import { token } from '../../di/token.js'

/** Injects the `traceparent` of the request, or the job, that the value is built for: what it starts later is linked to it. Undefined without a trace. */
export const callingTrace = token<string | undefined>('callingTrace')
