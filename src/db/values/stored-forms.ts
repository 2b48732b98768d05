import type { DataType, Model, ModelStatic } from 'sequelize'
import { MetadataKey } from '../../di/metadata.js'
import { instanceInternals } from '../sequelize/internals.js'

/*
 * A column may keep less of a value than was written: fewer digits, or no fraction of a second. PostgreSQL returns the rows that it inserts; all other
 * writes leave in the instance what was sent. It is set to what a read returns, so that both have one response.
 */

/** Returns a value of a row as a read returns it after it was written. */
export type StoredForm = (written: unknown) => unknown

/** The forms of the attributes of a model whose columns may return another value than was written. */
export type StoredForms = ReadonlyMap<string, StoredForm>

const storedForms = new MetadataKey<StoredForms>()

/** @param formOf undefined for a column that returns all of its values as they were written. */
export function rememberStoredForms(
  model: ModelStatic<Model>,
  formOf: (type: DataType, column: string) => StoredForm | undefined,
): void {
  const forms = Object.entries(model.getAttributes()).flatMap(([name, { type, field = name }]) => {
    const form = formOf(type, field)
    return form ? [[name, form] as const] : []
  })
  storedForms.write(model, new Map(forms))
}

/** Undefined if all columns of the model return what was written. */
export function storedFormsOf(model: object): StoredForms | undefined {
  const forms = storedForms.inherited(model)
  return forms?.size ? forms : undefined
}

/** Sets the attributes of an instance that was written. Those that the program has changed since are left. */
export function setStoredForms(instance: Model, isWritten: (name: string) => boolean): void {
  const forms = storedFormsOf(instance.constructor)
  if (forms) setForms(instanceInternals(instance).dataValues, forms, isWritten)
}

/** As {@link setStoredForms}, for forms that are known. */
export function setForms(
  dataValues: Record<string, unknown>,
  forms: StoredForms,
  isWritten: (name: string) => boolean,
): void {
  for (const [name, form] of forms) {
    const value = dataValues[name]
    if (value !== undefined && value !== null && isWritten(name)) dataValues[name] = form(value)
  }
}

/** The form of a column whose values are numbers; the program may write them as strings. */
export function numberForm(form: (written: number) => number): StoredForm {
  return (value) => (typeof value === 'number' || typeof value === 'string' ? form(Number(value)) : value)
}

/** The nearest number of four bytes, with as few digits as distinguish it from all others: 1.1234568 for 1.1234567891. */
export function nearestSingle(written: number): number {
  const single = Math.fround(written)
  const digits = [1, 2, 3, 4, 5, 6, 7, 8].find((count) => Math.fround(Number(single.toPrecision(count))) === single)
  return Number(single.toPrecision(digits ?? 9))
}
