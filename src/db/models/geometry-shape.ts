import type { Check } from '../../schema/shape/check.js'
import type { JsonSchema, Shape } from '../../schema/shape/shape.js'

/** How many lists the positions of a GeoJSON type lie in. */
const LISTS: ReadonlyMap<string, number> = new Map([
  ['Point', 0],
  ['LineString', 1],
  ['MultiPoint', 1],
  ['Polygon', 2],
  ['MultiLineString', 2],
  ['MultiPolygon', 3],
])

/**
 * GeoJSON in a plane, of one type when the column says which. Databases store NULL for what else they are given, without a word: a third
 * coordinate, a ring that is not closed.
 *
 * @param name of the column's type, 'POINT'; undefined for any.
 */
export function geometryShape(name: string | undefined): Shape {
  const known = ALL.filter((type) => type.toUpperCase() === name?.toUpperCase())
  const types = known.length > 0 ? known : ALL
  const [first, ...others] = types.map(documentOf)
  const base = { kind: 'any', object: true } as const
  return {
    ...base,
    openApiSchema: others.length > 0 ? { type: 'object', oneOf: [first, ...others] } : (first as JsonSchema),
    customValidation: { base, checks: [checkOf(types)] },
  }
}

const COLLECTION = 'GeometryCollection'
const ALL: readonly string[] = [...LISTS.keys(), COLLECTION]

function checkOf(types: readonly string[]): Check {
  const rings = types.some(hasRings) ? ' and closed rings' : ''
  return {
    accepts: (json) => !isObject(json) || types.some((type) => isOfType(json, type)),
    message: `must be GeoJSON${types === ALL ? '' : ` of a ${types.join()}`} with positions [x, y]${rings}`,
  }
}

function documentOf(type: string): JsonSchema {
  const lists = LISTS.get(type)
  const [name, schema] =
    lists === undefined
      ? ['geometries', { type: 'array', items: { type: 'object' } }]
      : ['coordinates', coordinatesOf(type, lists)]
  return {
    type: 'object',
    properties: { type: { type: 'string', enum: [type] }, [name]: schema },
    required: ['type', name],
  }
}

function coordinatesOf(type: string, lists: number): JsonSchema {
  if (lists === 0) return { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2 }
  return { type: 'array', items: coordinatesOf(type, lists - 1), minItems: lists === 1 ? leastOf(type) : 1 }
}

// Of the positions that lie together.
function leastOf(type: string): number {
  return hasRings(type) ? 4 : type === 'MultiPoint' ? 1 : 2
}

function hasRings(type: string): boolean {
  return type.endsWith('Polygon')
}

function isOfType({ type: given, coordinates, geometries }: Readonly<Record<string, unknown>>, type: string): boolean {
  if (given !== type) return false
  const lists = LISTS.get(type)
  if (lists !== undefined) return areCoordinates(coordinates, type, lists)
  return (
    Array.isArray(geometries) && geometries.every((one) => isObject(one) && ALL.some((each) => isOfType(one, each)))
  )
}

function areCoordinates(value: unknown, type: string, lists: number): boolean {
  if (!Array.isArray(value)) return false
  if (lists === 0) return value.length === 2 && value.every((part) => typeof part === 'number')
  if (!value.every((item) => areCoordinates(item, type, lists - 1))) return false
  if (lists > 1) return value.length > 0
  return value.length >= leastOf(type) && (!hasRings(type) || String(value[0]) === String(value.at(-1)))
}

function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}
