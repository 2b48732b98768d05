import { fitting } from '../../core/option-checks.js'
import { refuseMissingCall } from '../../core/options.js'
import { unknownFieldsKey } from '../shape/fields.js'

/** The rule for properties of a body that its class does not declare: a 422, or nothing. They never reach the handler. */
export type UnknownFieldsRule = 'refuse' | 'ignore'

/** The value of the option `unknownFields`. */
export const requireRule = fitting((rule) => rule === 'refuse' || rule === 'ignore', `'refuse', or 'ignore'`)

/**
 * Sets the rule for properties of a body that the class does not declare, instead of the `unknownFields` of the app. Inherited by its subclasses.
 *
 * @throws BootError for another rule.
 * @example
 * @UnknownFields('ignore')
 * class HeroInput {
 *   @Field() name!: string
 * }
 */
export function UnknownFields(rule: UnknownFieldsRule): ClassDecorator {
  refuseMissingCall(`@UnknownFields('ignore')`, arguments)
  return (target) => {
    requireRule(rule, `@UnknownFields() on ${target.name}: the rule`)
    unknownFieldsKey.write(target, rule)
  }
}
