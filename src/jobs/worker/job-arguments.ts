import { BootError } from '../../core/boot-error.js'
import { describeParameter, type Parameter } from '../../di/parameter.js'
import type { InputReader } from '../../di/plan.js'
import { howToProvide } from '../../di/provider.js'
import { isConstructor } from '../../di/token.js'
import { isDescribed } from '../../schema/shape/shape-of.js'
import { Attempt } from '../attempt.js'
import type { JobDeclaration } from '../declaration.js'
import { inputClassOf } from '../input.js'

/** What a parameter of a job is, unless it is injected. */
export type JobArgument = 'input' | 'attempt'

/** Finds the input and the attempt among the parameters of a job. */
export class JobArguments implements InputReader<JobArgument> {
  readonly #job: JobDeclaration
  readonly #inputClass: unknown

  constructor(job: JobDeclaration) {
    this.#job = job
    this.#inputClass = inputClassOf(job)
  }

  /** @throws BootError for a parameter of the job that is neither. */
  infer(parameter: Parameter): JobArgument | undefined {
    const { type, index, owner, member } = parameter
    if (type === Attempt) return 'attempt'
    if (index === 0 && type !== undefined && type === this.#inputClass) return 'input'
    if (owner !== this.#job.type || member !== this.#job.member) return undefined // of a service
    const reason = this.#reason(parameter, member)
    if (reason === undefined) return undefined
    throw new BootError(`${describeParameter(parameter)} ${reason}`)
  }

  /** Why the parameter is none, and what to write; undefined for the reasons of all parameters. */
  #reason({ type, name = 'input' }: Parameter, member: string): string | undefined {
    if (isDescribed(type)) return this.#inputClass === undefined ? inputIsFirst(type, name, member) : SECOND_INPUT
    if (!isConstructor(type) || type === Function || type === Promise || howToProvide.for(type)) return undefined
    if (Reflect.get(globalThis, type.name) === type) return noInput(type.name)
    return (
      `has the type ${type.name}, which nothing provides. For the input of the job, its first parameter, put @Field() on the properties of the class. ` +
      `For a service, put @Injectable() on it, or write createApp({ providers: [provide(${type.name}, ...)] }).`
    )
  }

  declared(_: unknown, parameter: Parameter | undefined): never {
    const { type, member } = this.#job
    throw new BootError(
      `${parameter ? describeParameter(parameter) : `${type.name}.${member}`} reads from a request, and a job has none. Give it the value as a field of its input, its first parameter.`,
    )
  }
}

const SECOND_INPUT =
  'is a second input, and a job has one: its first parameter. Put the fields of both into one class with @Field() properties.'

function inputIsFirst(type: { readonly name: string }, name: string, member: string): string {
  return `is the input of a job, which has to be its first parameter: ${member}(${name}: ${type.name}, ...).`
}

/** @param emitted a class of JavaScript: all that is left of the type at run time. */
function noInput(emitted: string): string {
  return (
    `has the type ${emitted} at run time, which is neither the input of a job nor a service. ` +
    `The input is the first parameter, a class with @Field() properties: class Input { @Field({ type: 'integer' }) id!: number }. ` +
    `A service is a class, or @Inject(token); write neither an interface nor 'import type'.`
  )
}
