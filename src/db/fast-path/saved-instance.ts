import type { Model, ModelStatic } from 'sequelize'
import { instanceInternals, modelInternals } from '../sequelize/internals.js'
import { setStoredForms } from '../values/stored-forms.js'

export type Values = Readonly<Record<string, unknown>>

/** A value as Sequelize binds it; undefined if it does not. */
export function boundValue(model: ModelStatic<Model>, name: string, value: unknown): unknown {
  const { queryGenerator, rawAttributes } = modelInternals(model)
  let bound: unknown
  const bind = (one: unknown) => ((bound = one), '$')
  const written = queryGenerator.format(value, rawAttributes[name], { context: 'INSERT' }, bind)
  return written === '$' ? bound : undefined
}

/**
 * Marks the attributes as saved. What the program has changed since the row was sent stays a change, which the next save() writes.
 *
 * @param now the values of the instance when the database had answered.
 */
export function markSaved(instance: Model, names: readonly string[], sent: Values, now: Values): void {
  const state = instanceInternals(instance)
  setStoredForms(instance, (name) => names.includes(name) && now[name] === sent[name])
  for (const name of names) {
    const isSame = now[name] === sent[name]
    state._previousDataValues[name] = isSame ? state.dataValues[name] : sent[name]
    if (isSame) state._changed.delete(name)
    else state.dataValues[name] = now[name]
  }
}
