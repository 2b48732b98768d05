import { isRecord } from '../../core/records.js'
import type { Check } from '../../schema/shape/check.js'
import type { JsonSchema, Shape } from '../../schema/shape/shape.js'

/** How many arrays a position is nested in, by GeoJSON type: 2 for a Polygon, [[[0, 0], [1, 0], ...]]. */
const DEPTHS: ReadonlyMap<string, number> = new Map([
  ['Point', 0],
  ['LineString', 1],
  ['MultiPoint', 1],
  ['Polygon', 2],
  ['MultiLineString', 2],
  ['MultiPolygon', 3],
])

/**
 * GeoJSON with two coordinates per position, of one geometry type if the column has one. Invalid GeoJSON must be rejected here: for a third
 * coordinate or an open ring, databases store NULL without an error.
 *
 * @param name the geometry type of the column, such as 'POINT'; undefined for any.
 */
export function geometryShape(name: string | undefined): Shape {
  const known = ALL.filter((type) => type.toUpperCase() === name?.toUpperCase())
  const types = known.length > 0 ? known : ALL
  const schemas = types.map(schemaOf)
  const [only] = schemas
  const base = { kind: 'any', object: true } as const
  return {
    ...base,
    openApiSchema: only !== undefined && schemas.length === 1 ? only : { type: 'object', oneOf: schemas },
    customValidation: { base, checks: [checkOf(types)] },
  }
}

const COLLECTION = 'GeometryCollection'
const ALL: readonly string[] = [...DEPTHS.keys(), COLLECTION]

function checkOf(types: readonly string[]): Check {
  const rings = types.some(hasRings) ? ' and closed rings' : ''
  return {
    accepts: (json) => !isRecord(json) || types.some((type) => isOfType(json, type)),
    message: `must be GeoJSON${types === ALL ? '' : ` of a ${types.join()}`} with positions [x, y]${rings}`,
  }
}

function schemaOf(type: string): JsonSchema {
  const depth = DEPTHS.get(type)
  const [name, schema] =
    depth === undefined
      ? ['geometries', { type: 'array', items: { type: 'object' } }]
      : ['coordinates', coordinatesOf(type, depth)]
  return {
    type: 'object',
    properties: { type: { type: 'string', enum: [type] }, [name]: schema },
    required: ['type', name],
  }
}

function coordinatesOf(type: string, depth: number): JsonSchema {
  if (depth === 0) return { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2 }
  return { type: 'array', items: coordinatesOf(type, depth - 1), minItems: depth === 1 ? minPositions(type) : 1 }
}

// The least number of positions in one array of them: in a line, in a ring.
function minPositions(type: string): number {
  return hasRings(type) ? 4 : type === 'MultiPoint' ? 1 : 2
}

function hasRings(type: string): boolean {
  return type.endsWith('Polygon')
}

function isOfType({ type: given, coordinates, geometries }: Readonly<Record<string, unknown>>, type: string): boolean {
  if (given !== type) return false
  const depth = DEPTHS.get(type)
  if (depth !== undefined) return areCoordinates(coordinates, type, depth)
  return (
    Array.isArray(geometries) && geometries.every((one) => isRecord(one) && ALL.some((each) => isOfType(one, each)))
  )
}

function areCoordinates(value: unknown, type: string, depth: number): boolean {
  if (!Array.isArray(value)) return false
  if (depth === 0) return value.length === 2 && value.every((part) => typeof part === 'number')
  if (!value.every((item) => areCoordinates(item, type, depth - 1))) return false
  if (depth > 1) return value.length > 0
  return value.length >= minPositions(type) && (!hasRings(type) || String(value[0]) === String(value.at(-1)))
}
