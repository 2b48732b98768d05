import type { Shape } from '../schema/shape.js'
import { isDescribed } from '../schema/shape-of.js'
import { compileStringify } from '../schema/stringify.js'
import type { Reply } from './reply.js'

/** Turns what a handler returned into the reply. Runs before COMMIT: what does not fit its declaration is not kept. */
export type Respond = (value: unknown) => Reply

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' }
const NO_CONTENT: Reply = { status: 204, headers: {} }

/**
 * Compiles the reply of a route.
 *
 * @param shape what the route declares, or undefined.
 * @param name the route's name, for messages.
 */
export function compileRespond(shape: Shape | undefined, status: number, name: string): Respond {
  if (!shape)
    return (value) =>
      value === undefined ? NO_CONTENT : { status, headers: JSON_HEADERS, body: stringifyUndeclared(value, name) }
  const stringify = compileStringify(shape)
  return (value) => ({ status, headers: JSON_HEADERS, body: stringify(value) })
}

// A model holds columns that nobody declared as public; JSON.stringify would send them all.
function stringifyUndeclared(value: unknown, name: string): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key: string, json: unknown) {
    const source: unknown = key === '' ? value : this[key]
    const type: unknown = typeof source === 'object' && source !== null ? source.constructor : undefined
    if (isDescribed(type)) {
      throw new TypeError(
        `${name} returned a ${type.name}, but declares no response, so that nothing says which of its properties are public. Declare it: @Get('/', ${type.name}) or @Get('/', Item.of(...)).`,
      )
    }
    return json
  })
}
