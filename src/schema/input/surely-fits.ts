import type { NumberShape, Shape, StringShape } from '../shape/shape.js'

/**
 * Whether a JSON value certainly fits a shape. Recognizes the usual defaults, such as those of page sizes, without compiling a validator: for all other values,
 * a validator says what is wrong.
 */
export function surelyFits(shape: Shape, json: unknown): boolean {
  if (shape.customValidation) return false
  switch (shape.kind) {
    case 'integer':
      return Number.isSafeInteger(json) && isWithin(shape, json as number) // checked in this line
    case 'number':
      return Number.isFinite(json) && isWithin(shape, json as number) // checked in this line
    case 'boolean':
      return typeof json === 'boolean'
    case 'enum':
      return shape.values.some((value) => value === json)
    case 'string':
      return typeof json === 'string' && isPlain(shape, json)
    default:
      return false
  }
}

function isWithin(shape: NumberShape, value: number): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = shape
  return (
    multipleOf === undefined &&
    value >= (minimum ?? value) &&
    value <= (maximum ?? value) &&
    (exclusiveMinimum === undefined || value > exclusiveMinimum) &&
    (exclusiveMaximum === undefined || value < exclusiveMaximum)
  )
}

/** Of ASCII characters, which are counted in the same way everywhere. */
function isPlain({ minLength = 0, maxLength = Infinity, pattern, format }: StringShape, text: string): boolean {
  const hasRule = pattern !== undefined || format !== undefined
  return !hasRule && /^[ -~]*$/.test(text) && text.length >= minLength && text.length <= maxLength
}
