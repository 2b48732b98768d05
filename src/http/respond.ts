import { MisfitError } from '../schema/encode.js'
import type { Shape } from '../schema/shape.js'
import { compileStringify, type Stringify } from '../schema/stringify.js'
import { stringifyUndeclared, UndeclaredError } from '../schema/undeclared.js'
import type { Reply } from './reply.js'

/** Turns what a handler returned into the reply. Runs before COMMIT: what does not fit its declaration is not kept. */
export type Respond = (value: unknown) => Reply

/** What replying needs to know of a route. */
export interface Responding {
  /** For messages. */
  readonly name: string
  readonly response: Shape | undefined
  readonly status: number
  /** The status when the handler returns nothing and declares nothing. */
  readonly emptyStatus: number
}

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' }

/** Whether HTTP allows an answer of this status to have a body. */
export function hasBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304
}

/** Compiles the reply of a route. */
export function compileRespond({ name, response, status, emptyStatus }: Responding): Respond {
  if (!hasBody(status)) return () => ({ status, headers: {} })
  const stringify = response ? declared(response, name) : undeclared(name)
  return (value) =>
    value === undefined && !response
      ? { status: emptyStatus, headers: {} }
      : { status, headers: JSON_HEADERS, body: stringify(value) }
}

function declared(shape: Shape, name: string): Stringify {
  const stringify = compileStringify(shape)
  return (value) => {
    if (value === undefined)
      throw new TypeError(
        `${name} returned nothing, but declares a response. Return it (is a 'return' missing?), or take the declaration away.`,
      )
    try {
      return stringify(value)
    } catch (cause) {
      if (!(cause instanceof MisfitError)) throw cause
      throw new TypeError(`${name} returned what does not fit the response that it declares: ${cause.message}`, {
        cause,
      })
    }
  }
}

function undeclared(name: string): Stringify {
  return (value) => {
    const text = writeUndeclared(value, name)
    if (text === undefined) throw new TypeError(`${name} returned a ${typeof value}, which JSON does not have.`)
    return text
  }
}

function writeUndeclared(value: unknown, name: string): string | undefined {
  try {
    return stringifyUndeclared(value)
  } catch (cause) {
    if (!(cause instanceof UndeclaredError)) throw cause
    const type = cause.type.name
    throw new TypeError(
      `${name} returned a ${type}, but declares no response, so that nothing says which of its properties are public. Declare it: @Get('/', ${type}) or @Get('/', Item.of(...)).`,
      { cause },
    )
  }
}
