import type { Model, ModelStatic } from 'sequelize'

type Judge = (model: ModelStatic<Model>, facts: Facts) => boolean

/** Reads what an answer depends on. */
export interface Facts {
  read<T extends object, K extends keyof T>(object: T, key: K): T[K]
  /** The entries of a list that may grow; none if there is no list. */
  list<E>(lists: Readonly<Record<string, readonly E[]>> | undefined, key: string): readonly E[]
  /** Whether an object has no properties, which it may be given later. */
  isEmpty(object: object | undefined): boolean
}

export const NOT_REMEMBERED: Facts = {
  read: (object, key) => object[key],
  list: (lists, key) => lists?.[key] ?? [],
  isEmpty,
}

/** An answer, with the properties that it was made of. */
class Answer implements Facts {
  readonly #objects: Record<PropertyKey, unknown>[] = []
  readonly #keys: PropertyKey[] = []
  readonly #values: unknown[] = []
  readonly #emptyObjects: object[] = []
  readonly isYes: boolean

  constructor(model: ModelStatic<Model>, judge: Judge) {
    this.isYes = judge(model, this)
  }

  read<T extends object, K extends keyof T>(object: T, key: K): T[K] {
    const value = object[key]
    if (this.#objects.some((known, index) => known === object && this.#keys[index] === key)) return value
    this.#objects.push(object as Record<PropertyKey, unknown>)
    this.#keys.push(key)
    this.#values.push(value)
    return value
  }

  list<E>(lists: Readonly<Record<string, readonly E[]>> | undefined, key: string): readonly E[] {
    const list = lists ? this.read(lists, key) : undefined
    if (list) this.read(list, 'length')
    return list ?? []
  }

  isEmpty(object: object | undefined): boolean {
    if (!isEmpty(object)) return false
    if (object) this.#emptyObjects.push(object)
    return true
  }

  /** Whether the properties are the same as they were. */
  get holds(): boolean {
    let index = 0
    for (const object of this.#objects) {
      if (object[this.#keys[index] as PropertyKey] !== this.#values[index]) return false
      index++
    }
    for (const object of this.#emptyObjects) {
      for (const _ in object) return false
      if (Object.getOwnPropertySymbols(object).length > 0) return false
    }
    return true
  }
}

function isEmpty(object: object | undefined): boolean {
  for (const _ in object) return false
  return object === undefined || Object.getOwnPropertySymbols(object).length === 0
}

/**
 * A question about a model that is asked once, and again when something has changed that its answer was made of: a method was replaced, or a hook was added.
 * Methods are compared rather than observed, as a mock replaces the property itself.
 */
export function rememberedByModel(judge: Judge): (model: ModelStatic<Model>) => boolean {
  const answers = new WeakMap<object, Answer>()
  return (model) => {
    const known = answers.get(model)
    if (known?.holds) return known.isYes
    const answer = new Answer(model, judge)
    answers.set(model, answer)
    return answer.isYes
  }
}
