import type { ModelValidateOptions } from 'sequelize'
import { refuseCostlyPattern } from '../../schema/patterns/pattern-cost.js'
import { argumentsOf, ruleOf } from './column-checks.js'

/** The rules of a column's `validate` that have a regular expression. */
const PATTERNS = ['is', 'regex', 'not', 'notRegex'] as const

/**
 * Rejects regular expressions that some strings make very slow (ReDoS). Sequelize matches them against every saved string, of any length.
 *
 * @throws BootError that names the column and the rule.
 */
export function refuseCostlyRules(where: string, rules: ModelValidateOptions | undefined): void {
  for (const name of PATTERNS) {
    const expression = expressionOf(name, rules && ruleOf(rules, name))
    if (expression)
      refuseCostlyPattern(
        expression,
        Infinity,
        `${where}: the rule ${name}`,
        `, or use a rule such as isEmail or isUrl`,
      )
  }
}

// is: /^[a-z]+$/, is: '^[a-z]+$', or is: ['^[a-z]+$', 'i'] with flags.
function expressionOf(name: string, rule: unknown): RegExp | undefined {
  if (rule === undefined || rule === false || typeof rule === 'function') return undefined
  const [pattern, flags] = argumentsOf(name, rule)
  if (pattern instanceof RegExp) return pattern
  return typeof pattern === 'string' ? compile(pattern, flags) : undefined
}

// Sequelize reports an invalid pattern.
function compile(source: string, flags: unknown): RegExp | undefined {
  try {
    return new RegExp(source, typeof flags === 'string' ? flags : '')
  } catch {
    return undefined
  }
}
