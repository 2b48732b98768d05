import type { Parameter } from '../../di/parameter.js'
import { isConstructor } from '../../di/token.js'
import { BootError } from '../../core/boot-error.js'
import { isDescribed } from '../../schema/shape/shape-of.js'
import { isStandardSchema } from '../../schema/shape/standard-schema.js'
import type { InputOptions } from './input-decorators.js'

/** The part of the request that an input is read from. */
export type InputLocation = 'path' | 'query' | 'header' | 'cookie' | 'body'

/** Types that are read from the path or the query without a decorator. */
export const PRIMITIVES: ReadonlySet<unknown> = new Set([String, Number, Boolean, BigInt, Date])

/** The declared type of an input. @throws BootError when it is not enough to read a value. */
export function typeOf(
  location: InputLocation,
  options: InputOptions,
  parameter: Parameter | undefined,
  where: string,
): unknown {
  const type = options.type ?? parameter?.type
  if (options.enum !== undefined || options.oneOf !== undefined) return type
  if (type === Number && location === 'path') return 'integer'
  if (PRIMITIVES.has(type) || isReadable(type)) return type
  refuseWithoutFields(type, where)
  const emitted = typeof type === 'function' ? `'${type.name}'` : 'nothing'
  const examples =
    location === 'body'
      ? [`type: HeroInput`, `type: [HeroInput]`, `type: 'any'`]
      : [`type: 'integer'`, `type: [String]`, `enum: ['asc', 'desc']`]
  throw new BootError(
    `${where}: the compiler emitted ${emitted}, which is not enough to read a value (an array, a union, an interface, or a class imported by 'import type'). ` +
      `Declare its type: ${examples.map((example) => `@${decoratorOf(location)}({ ${example} })`).join(', ')}.`,
  )
}

function refuseWithoutFields(type: unknown, where: string): void {
  if (!isConstructor(type) || Reflect.get(globalThis, type.name) === type) return
  throw new BootError(
    `${where}: the class ${type.name} has no fields, so that nothing of it would be read. Put @Field() on its properties.`,
  )
}

function isReadable(type: unknown): boolean {
  if (type === undefined || type === Object || type === Array || type === Function || type === Promise) return false
  return (
    typeof type !== 'function' ||
    isStandardSchema(type) ||
    isDescribed(type) ||
    !('prototype' in type) ||
    type === Buffer ||
    type === Uint8Array
  )
}

/** The name of its decorator. */
export function decoratorOf(location: InputLocation): string {
  return { path: 'Path', query: 'Query', header: 'Header', cookie: 'Cookie', body: 'Body' }[location]
}
