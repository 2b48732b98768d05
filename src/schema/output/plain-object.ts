import { isInherited } from '../shape/inherited-names.js'
import type { Shape } from '../shape/shape.js'
import { compileConstraint } from './constraints.js'

/*
 * The short path of objects: code is generated for each shape, because V8 cannot optimize code that all shapes share. What it leaves is encoded by
 * encode.ts in the same way, with the errors.
 */

export interface PlainProperty {
  readonly name: string
  readonly shape: Shape
  readonly optional: boolean
}

/** The functions that generated code calls. */
export interface PlainParts<P extends PlainProperty> {
  /** The value that an object has instead of a property that is undefined. */
  alias(source: object, name: string): unknown
  /** Encodes the value of a property. @throws what is wrong with the value, and where. */
  encode(property: P, value: unknown, source: object): unknown
}

/** An object with the declared properties, encoded; undefined, before anything is encoded, if one is missing or of another type. */
export type EncodePlain = (source: object) => object | undefined

/** Undefined if objects inherit one of the properties. */
export function compilePlainObject<P extends PlainProperty>(
  properties: readonly P[],
  { alias, encode }: PlainParts<P>,
): EncodePlain | undefined {
  if (properties.some(({ name }) => isInherited(name))) return undefined
  // Only names of properties and numbers come from the program.
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval
  const make = new Function('properties', 'alias', 'encode', `return (source) => {${codeOf(properties)}}`) as (
    properties: readonly P[],
    ...parts: readonly unknown[]
  ) => EncodePlain
  return make(properties, alias, encode)
}

/** The body of the function: reads all properties, returns if one is not as declared, and makes the object. */
function codeOf(properties: readonly PlainProperty[]): string {
  const parts = properties.map(({ name, shape, optional }, index) => {
    const [key, value] = [JSON.stringify(name), `v${index}`]
    const check = checkOf(shape)?.replaceAll('$', value)
    const missing = optional ? `if (${value} === undefined) ${value} = alias(source, ${key});` : ''
    return {
      optional,
      read: `let ${value} = source[${key}];${missing}`,
      refusal: `if (!(${optional ? `${value} === undefined || ` : ''}${check ?? `${value} !== undefined`})) return;`,
      key,
      value,
      encoded: check === undefined ? `encode(properties[${index}], ${value}, source)` : value,
    }
  })
  const first = parts.findIndex(({ optional }) => optional)
  const always = first === -1 ? parts : parts.slice(0, first)
  const sets = parts.slice(always.length).map(({ optional, key, value, encoded }) => {
    const set = `target[${key}] = ${encoded};`
    return optional ? `if (${value} !== undefined) ${set}` : set
  })
  return [
    ...parts.map(({ read }) => read),
    ...parts.map(({ refusal }) => refusal),
    `const target = { ${always.map(({ key, encoded }) => `${key}: ${encoded}`).join(', ')} };`,
    ...sets,
    'return target;',
  ].join('\n')
}

/** An expression that is true for a value `$` that is its own JSON; undefined where the encoder must decide. */
function checkOf(shape: Shape): string | undefined {
  const check = notNullCheckOf(shape.customValidation?.base ?? shape)
  return check !== undefined && shape.nullable ? `$ === null || ${check}` : check
}

function notNullCheckOf(shape: Shape): string | undefined {
  switch (shape.kind) {
    case 'string': {
      const { asStored, binary, maxLength, ...others } = shape
      if (asStored || binary || compileConstraint(others)) return undefined
      // A length in UTF-16 is at least that in characters.
      return `typeof $ === 'string'${maxLength === undefined ? '' : ` && $.length <= ${maxLength}`}`
    }
    case 'integer':
    case 'number': {
      const { minimum, maximum, ...others } = shape
      if (compileConstraint(others)) return undefined
      const isNumber = shape.kind === 'integer' ? 'Number.isSafeInteger($)' : 'Number.isFinite($)'
      const bounds = [
        minimum === undefined ? '' : ` && $ >= ${minimum}`,
        maximum === undefined ? '' : ` && $ <= ${maximum}`,
      ]
      return isNumber + bounds.join('')
    }
    case 'boolean':
      return `typeof $ === 'boolean'`
    default:
      return undefined
  }
}
