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
  readonly encode: (value: unknown) => unknown
}

/** An object with the declared properties, encoded; undefined if one is missing, or is refused. */
export type EncodePlain = (source: object) => object | undefined

/** What an object has instead of a property that is undefined. */
type Alias = (source: object, name: string) => unknown

/** Undefined if objects inherit one of the properties. */
export function compilePlainObject(properties: readonly PlainProperty[], alias: Alias): EncodePlain | undefined {
  if (properties.some(({ name }) => isInherited(name))) return undefined
  // Only names of properties and numbers come from the program.
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval
  const encodeAll = new Function('source', 'encode', 'alias', codeOf(properties)) as Generated
  const encode = properties.map((property) => property.encode)
  return (source) => {
    try {
      return encodeAll(source, encode, alias)
    } catch {
      return undefined
    }
  }
}

type Generated = (source: object, encode: readonly unknown[], alias: Alias) => object | undefined

/** The body of a function: reads all properties, returns if one is not as declared, and makes the object. */
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
      encoded: check === undefined ? `encode[${index}](${value})` : value,
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

/** An expression that is true for a value `$` that is its own JSON; undefined where the encoder has to tell. */
function checkOf(shape: Shape): string | undefined {
  const check = notNullCheckOf(shape.customValidation?.base ?? shape)
  return check !== undefined && shape.nullable ? `$ === null || ${check}` : check
}

function notNullCheckOf(shape: Shape): string | undefined {
  switch (shape.kind) {
    case 'string': {
      const { trimEnd, binary, maxLength, ...others } = shape
      if (trimEnd || binary || compileConstraint(others)) return undefined
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
