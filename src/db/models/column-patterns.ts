import type { ModelValidateOptions } from 'sequelize'
import { refuseCostlyPattern } from '../../schema/patterns/pattern-cost.js'
import { argumentsOf } from './column-checks.js'

/** The rules of a column's `validate` that are regular expressions. */
const PATTERNS = ['is', 'regex', 'not', 'notRegex'] as const

/**
 * Refuses regular expressions that a client could keep the server busy with. Sequelize matches them against every text that is saved, of any length.
 *
 * @throws BootError that names the column and the rule.
 */
export function refuseCostlyRules(where: string, rules: ModelValidateOptions | undefined): void {
  for (const name of PATTERNS) {
    const expression = expressionOf(name, (rules as Readonly<Record<string, unknown>> | undefined)?.[name])
    if (expression)
      refuseCostlyPattern(
        expression,
        Infinity,
        `${where}: the rule ${name}`,
        `, or use a rule such as isEmail or isUrl`,
      )
  }
}

// is: /^[a-z]+$/, is: '^[a-z]+$', or is: ['^[a-z]+$', 'i'], whose second argument are flags.
function expressionOf(name: string, rule: unknown): RegExp | undefined {
  if (rule === undefined || rule === false || typeof rule === 'function') return undefined
  const [pattern, flags] = argumentsOf(name, rule)
  if (pattern instanceof RegExp) return pattern
  return typeof pattern === 'string' ? compiled(pattern, flags) : undefined
}

// What cannot be read is Sequelize's to refuse.
function compiled(source: string, flags: unknown): RegExp | undefined {
  try {
    return new RegExp(source, typeof flags === 'string' ? flags : '')
  } catch {
    return undefined
  }
}
