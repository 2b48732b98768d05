import { InjectionError } from './errors.js'
import { emittedConstructorTypes, emittedMethodTypes } from './metadata.js'
import {
  declaredConstructorParameters,
  declaredMethodParameters,
  describeParameter,
  type Parameter,
} from './parameter.js'
import { methodParameters, namedConstructor, type NamedParameter } from './parameter-names.js'
import { type Dependency, intrinsicProvider, type Lifetime, type Provider, type Provision } from './provider.js'
import { type Constructor, isConstructor, isToken, type Token, tokenName } from './token.js'
import { adviceFor, missingMetadata, notInjectable, restParameter } from './plan-errors.js'

/** Where an argument comes from when a request arrives: an input of the client, a value of this request, or one of the app. */
export type Argument =
  | { readonly kind: 'input'; readonly index: number }
  | { readonly kind: 'request'; readonly index: number }
  | { readonly kind: 'application'; readonly index: number }

/** A value to build, after all those that it needs. */
export interface Step {
  readonly token: Token
  readonly provider: Provider
  readonly arguments: readonly Argument[]
}

/** Everything that can be known of a handler's arguments before the first request. */
export interface Plan<I> {
  /** What the client sends, in the order in which it is bound. */
  readonly inputs: readonly I[]
  /** What each request builds, in this order. */
  readonly steps: readonly Step[]
  readonly controller: Argument
  readonly arguments: readonly Argument[]
}

/** The side that knows what a client can send. */
export interface InputReader<I> {
  /** The input for a parameter that no token claims, or undefined when it is not an input either. */
  infer(parameter: Parameter): I | undefined
  /** The input that a parameter's decorator or a factory's dependency declares. */
  declared(input: unknown, parameter: Parameter | undefined): I
}

interface Draft<I> {
  readonly reader: InputReader<I>
  readonly inputs: I[]
  readonly steps: Step[]
  readonly built: Map<Token, Argument>
}

/**
 * Makes the plans of an app's handlers. Values of the whole app are planned once and shared.
 *
 * @throws InjectionError for cycles, gaps, application-wide values that ask for a request's, and parameters with no type at run time.
 */
export class Planner<I> {
  /** What lives as long as the app, in the order in which it is built. */
  readonly shared: Step[] = []
  readonly #sharedBuilt = new Map<Token, Argument>()
  readonly #provisions: ReadonlyMap<Token, Provider>
  readonly #asking: Token[] = []

  constructor(provisions: readonly Provision[]) {
    this.#provisions = new Map(provisions.map(({ token, provider }) => [token, provider]))
  }

  /** The plan of `controller.member`. `params`, when given, says the types that the compiler did not emit. */
  plan(controller: Constructor, member: string, reader: InputReader<I>, params?: readonly unknown[]): Plan<I> {
    const draft: Draft<I> = { reader, inputs: [], steps: [], built: new Map() }
    const provider = this.#provider(controller) ?? { kind: 'class', type: controller, lifetime: 'inferred' }
    const self = this.#resolve(controller, draft, provider)
    try {
      const values = this.#arguments(readMethod(controller, member, params), draft)
      return { inputs: draft.inputs, steps: draft.steps, controller: self, arguments: values }
    } catch (error) {
      throw InjectionError.at(`${controller.name}.${member}`, error)
    }
  }

  #provider(token: Token): Provider | undefined {
    return this.#provisions.get(token) ?? intrinsicProvider(token)
  }

  #resolve(token: Token, draft: Draft<I>, provider: Provider): Argument {
    const known = draft.built.get(token) ?? this.#sharedBuilt.get(token)
    if (known) return known
    if (this.#asking.includes(token)) throw this.#cycle(token)
    this.#asking.push(token)
    try {
      return this.#build(token, draft, provider)
    } catch (error) {
      throw InjectionError.at(tokenName(token), error)
    } finally {
      this.#asking.pop()
    }
  }

  #build(token: Token, draft: Draft<I>, provider: Provider): Argument {
    switch (provider.kind) {
      case 'value':
        return this.#share({ token, provider, arguments: [] })
      case 'given':
        return add(draft, { token, provider, arguments: [] })
      case 'factory':
      case 'managed': {
        const step = {
          token,
          provider,
          arguments: provider.dependencies.map((dependency) => this.#dependency(dependency, draft, undefined)),
        }
        return this.#place(step, provider.kind === 'managed' ? 'request' : provider.lifetime, draft)
      }
      case 'class': {
        const step = {
          token,
          provider,
          arguments: this.#arguments(readConstructor(provider.type), draft),
        }
        return this.#place(step, provider.lifetime, draft)
      }
    }
  }

  #place(step: Step, lifetime: Lifetime | 'inferred', draft: Draft<I>): Argument {
    const ofRequest = step.arguments.find((argument) => argument.kind !== 'application')
    if (lifetime === 'request' || (lifetime === 'inferred' && ofRequest)) return add(draft, step)
    if (!ofRequest) return this.#share(step)
    const [name, asked] = [tokenName(step.token), requested(ofRequest, draft)]
    throw new InjectionError(
      [],
      `${name} lives as long as the app, but asks for ${asked}, which lives for one request: ` +
        `it would keep the first request's for ever. Give ${name} the lifetime 'request', or hand the value to its methods.`,
    )
  }

  #share(step: Step): Argument {
    const argument: Argument = { kind: 'application', index: this.shared.push(step) - 1 }
    this.#sharedBuilt.set(step.token, argument)
    return argument
  }

  #arguments(parameters: readonly DeclaredParameter[], draft: Draft<I>): Argument[] {
    return parameters.map((parameter) => this.#argument(parameter, draft))
  }

  #argument(parameter: DeclaredParameter, draft: Draft<I>): Argument {
    if (parameter.declared) return this.#dependency(parameter.declared, draft, parameter)
    if (parameter.rest) throw new InjectionError([], restParameter(parameter))
    if (!parameter.typed) throw new InjectionError([], missingMetadata(parameter))
    const provider = isToken(parameter.type) ? this.#provider(parameter.type) : undefined
    if (provider) return this.#resolve(parameter.type as Token, draft, provider)
    const input = draft.reader.infer(parameter)
    if (input !== undefined) return addInput(draft, input)
    throw new InjectionError([], notInjectable(parameter))
  }

  #dependency(dependency: Dependency, draft: Draft<I>, parameter: Parameter | undefined): Argument {
    if (dependency.kind === 'input') return addInput(draft, draft.reader.declared(dependency.input, parameter))
    const provider = this.#provider(dependency.token)
    if (provider) return this.#resolve(dependency.token, draft, provider)
    const where = parameter ? `${describeParameter(parameter)}: ` : ''
    throw new InjectionError(
      [],
      `${where}nothing provides ${tokenName(dependency.token)}. ` +
        (isConstructor(dependency.token)
          ? adviceFor(dependency.token)
          : `Give createApp({ providers: [provide(${tokenName(dependency.token)}, { value: ... })] }).`),
    )
  }

  #cycle(token: Token): InjectionError {
    const names = this.#asking.slice(this.#asking.indexOf(token)).map(tokenName)
    return new InjectionError(
      [],
      `${[...names, tokenName(token)].join(' -> ')}: these ask for each other in a circle. ` +
        `Move what both need into a third class, or hand one to the other's method.`,
    )
  }
}

function add<I>(draft: Draft<I>, step: Step): Argument {
  const argument: Argument = { kind: 'request', index: draft.steps.push(step) - 1 }
  draft.built.set(step.token, argument)
  return argument
}

function addInput<I>(draft: Draft<I>, input: I): Argument {
  return { kind: 'input', index: draft.inputs.push(input) - 1 }
}

function requested<I>(argument: Argument, draft: Draft<I>): string {
  const step = argument.kind === 'request' ? draft.steps[argument.index] : undefined
  return step ? tokenName(step.token) : 'an input of the client'
}

type DeclaredParameter = Parameter & { readonly declared: Dependency | undefined }

function readMethod(
  controller: Constructor,
  member: string,
  params: readonly unknown[] | undefined,
): DeclaredParameter[] {
  const prototype = controller.prototype as Record<string, (...args: never[]) => unknown>
  const method = prototype[member]
  if (typeof method !== 'function') throw new InjectionError([], `${controller.name}.${member} is not a method.`)
  return join(
    controller,
    member,
    methodParameters(method),
    params ?? emittedMethodTypes(prototype, member),
    declaredMethodParameters(prototype, member),
  )
}

function readConstructor(type: Constructor): DeclaredParameter[] {
  const { owner, parameters } = namedConstructor(type)
  return join(owner, undefined, parameters, emittedConstructorTypes(owner), declaredConstructorParameters(owner))
}

function join(
  owner: Constructor,
  member: string | undefined,
  named: readonly NamedParameter[],
  types: readonly unknown[] | undefined,
  declared: ReadonlyMap<number, Dependency>,
): DeclaredParameter[] {
  const count = Math.max(named.length, types?.length ?? 0)
  return Array.from({ length: count }, (_, index) => ({
    hasDefault: false,
    ...(named[index] ?? { name: undefined }),
    owner,
    member,
    index,
    type: types?.[index],
    typed: types !== undefined && index < types.length,
    declared: declared.get(index),
  }))
}
