import { BootError } from '../../core/boot-error.js'
import { refuseMissingCall, shown } from '../../core/options.js'
import { unknownFieldsKey } from '../shape/fields.js'

/** What happens to properties of a body that its class does not declare: a 422, or nothing. They never reach the handler. */
export type UnknownFieldsRule = 'refuse' | 'ignore'

/** @throws BootError for another value. */
export function refuseOtherThanRule(where: string, rule: unknown): void {
  if (rule === undefined || rule === 'refuse' || rule === 'ignore') return
  throw new BootError(`${where} is ${shown(rule)}. Write 'refuse', or 'ignore'.`)
}

/**
 * What happens to properties of a body that the class does not declare, instead of the `unknownFields` of the app. Inherited by its subclasses.
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
    refuseOtherThanRule(`@UnknownFields() on ${target.name}: the rule`, rule)
    unknownFieldsKey.write(target, rule)
  }
}
