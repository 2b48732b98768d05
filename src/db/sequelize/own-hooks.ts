import type { HookOptions } from './internals.js'

/*
 * The hooks that this package adds to an instance of Sequelize, by their names.
 */

/** Reads columns that the database has computed, after an instance was saved. */
export const READ_GENERATED = 'sequitur: read generated columns'
/** Checks the values of an instance before it is saved on SQLite. */
export const CHECK_BOUNDS = 'sequitur: check bounds'

const OWN: ReadonlySet<unknown> = new Set([READ_GENERATED, CHECK_BOUNDS])

/** The hooks that Sequelize runs when it saves an instance. */
export const SAVE_HOOKS: readonly string[] = [
  'validationFailed',
  ...['Validate', 'Save', 'Create', 'Update'].flatMap((name) => [`before${name}`, `after${name}`]),
]

export function isOfProgram({ name }: { readonly name?: string }): boolean {
  return !OWN.has(name)
}

/** Whether the program has hooks that Sequelize runs when it saves an instance. */
export function hasSaveHooks({ hooks = {} }: HookOptions): boolean {
  return SAVE_HOOKS.some((type) => hooks[type]?.some(isOfProgram))
}
