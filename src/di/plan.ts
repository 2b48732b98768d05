import { InjectionError } from './errors.js'
import { factoryMethodOf, instancesFrom } from './factory-method.js'
import { emittedConstructorTypes, emittedMethodTypes } from './metadata.js'
import { declaredConstructorParameters, declaredMethodParameters, type Parameter } from './parameter.js'
import { methodParameters, namedConstructor, type NamedParameter } from './parameter-names.js'
import { type Dependency, intrinsicProvider, type Lifetime, type Provider, type Provision } from './provider.js'
import { type Constructor, isToken, type Token, tokenName } from './token.js'
import {
  cycle,
  lifetimeConflict,
  missingMetadata,
  noProvider,
  notInjectable,
  restParameter,
  uselessRequirement,
} from './plan-errors.js'

/** Where an argument comes from: the client's inputs, the values of the request, or those of the app. */
export type Argument =
  | { readonly kind: 'input'; readonly index: number }
  | { readonly kind: 'request'; readonly index: number }
  | { readonly kind: 'application'; readonly index: number }

/** A value to build. Its arguments are built by earlier steps. */
export interface Step {
  readonly token: Token
  readonly provider: Provider
  /** Makes the value, unless it is given or managed. */
  readonly create?: Create
  readonly arguments: readonly Argument[]
}

type Create = (...dependencies: unknown[]) => unknown

/** How to make a handler's arguments; made once, at startup. */
export interface Plan<I> {
  /** The inputs that the client sends, in the order of binding. */
  readonly inputs: readonly I[]
  /** The values that each request builds, in this order. */
  readonly steps: readonly Step[]
  /** The steps before which inputs are read, by their index: those of each stage. The first is 0. */
  readonly stages: readonly number[]
  readonly controller: Argument
  readonly arguments: readonly Argument[]
}

/** Turns parameters into inputs of the client. `src/http` implements it. */
export interface InputReader<I> {
  /** The input for a parameter whose type is not a token; undefined when it is not an input either. */
  infer(parameter: Parameter): I | undefined
  /** The input that a parameter's decorator, or a dependency of a factory, declares. */
  declared(input: unknown, parameter: Parameter | undefined): I
}

/** The known facts of a handler, in addition to its source. */
export interface HandlerPlanning {
  /** The types of its parameters, when the compiler emits none. */
  readonly params?: readonly unknown[] | undefined
  /** The tokens whose objects are built before each call, although no parameter takes it. */
  readonly requires?: readonly Token[]
}

interface Draft {
  readonly reader: InputReader<unknown>
  readonly inputs: unknown[]
  readonly steps: Step[]
  readonly built: Map<Token, Argument>
}

/**
 * Plans the arguments of an app's handlers. The values that live as long as the app are planned once, and shared.
 *
 * @throws InjectionError for cycles, missing providers, values of the app that inject a value of a request, and parameters without a type at
 * run time.
 */
export class Planner {
  /** The values that live as long as the app, in the order of their creation. */
  readonly shared: Step[] = []
  readonly #sharedBuilt = new Map<Token, Argument>()
  readonly #provisions: ReadonlyMap<Token, Provider>
  readonly #path: Token[] = []

  constructor(provisions: readonly Provision[]) {
    this.#provisions = new Map(provisions.map(({ token, provider }) => [token, provider]))
  }

  /** The plan of `controller.member`. */
  plan<I>(
    controller: Constructor,
    member: string,
    reader: InputReader<I>,
    { params, requires = [] }: HandlerPlanning = {},
  ): Plan<I> {
    const draft: Draft = { reader, inputs: [], steps: [], built: new Map() }
    const provider = this.#provider(controller) ?? { kind: 'class', type: controller, lifetime: 'inferred' }
    const self = this.#resolve(controller, draft, provider)
    try {
      for (const token of requires) this.#require(token, draft, `${controller.name}.${member}`)
      const values = this.#arguments(readMethod(controller, member, params), draft)
      const inputs = draft.inputs as I[] // what the reader has returned
      return { inputs, steps: draft.steps, stages: [0], controller: self, arguments: values }
    } catch (error) {
      throw InjectionError.at(`${controller.name}.${member}`, error)
    }
  }

  #require(token: Token, draft: Draft, handler: string): void {
    const built = this.#dependency({ kind: 'token', token }, draft, undefined)
    // A test may replace it by a value.
    const isReplaced = this.#provisions.has(token) && intrinsicProvider(token) !== undefined
    if (built.kind === 'application' && !isReplaced)
      throw new InjectionError([], uselessRequirement(handler, tokenName(token)))
  }

  #provider(token: Token): Provider | undefined {
    return this.#provisions.get(token) ?? intrinsicProvider(token)
  }

  #resolve(token: Token, draft: Draft, provider: Provider): Argument {
    const known = draft.built.get(token) ?? this.#sharedBuilt.get(token)
    if (known) return known
    if (this.#path.includes(token)) throw this.#cycle(token)
    this.#path.push(token)
    try {
      return this.#build(token, draft, provider)
    } catch (error) {
      throw InjectionError.at(tokenName(token), error)
    } finally {
      this.#path.pop()
    }
  }

  #build(token: Token, draft: Draft, provider: Provider): Argument {
    switch (provider.kind) {
      case 'value':
        return this.#share({ token, provider, create: () => provider.value, arguments: [] })
      case 'given':
        return add(draft, { token, provider, arguments: [] })
      case 'factory':
      case 'managed': {
        const args = provider.dependencies.map((dependency) => this.#dependency(dependency, draft, undefined))
        if (provider.kind === 'managed') return this.#place({ token, provider, arguments: args }, 'request', draft)
        const create = provider.create as Create // called with arguments of the types that `inject` names
        return this.#place({ token, provider, create, arguments: args }, provider.lifetime, draft)
      }
      case 'class': {
        const { type } = provider
        const factory = factoryMethodOf(type)
        const parameters = factory === undefined ? readConstructor(type) : readMember(type, type, factory, undefined)
        const create = factory === undefined ? constructorOf(type) : instancesFrom(type, factory)
        const step = { token, provider, create, arguments: this.#arguments(parameters, draft) }
        return this.#place(step, provider.lifetime, draft)
      }
    }
  }

  #place(step: Step, lifetime: Lifetime | 'inferred', draft: Draft): Argument {
    const ofRequest = step.arguments.find((argument) => argument.kind !== 'application')
    if (lifetime === 'request' || (lifetime === 'inferred' && ofRequest)) return add(draft, step)
    if (!ofRequest) return this.#share(step)
    const [name, injected] = [tokenName(step.token), describeArgument(ofRequest, draft)]
    throw new InjectionError([], lifetimeConflict(name, injected))
  }

  #share(step: Step): Argument {
    const argument: Argument = { kind: 'application', index: this.shared.push(step) - 1 }
    this.#sharedBuilt.set(step.token, argument)
    return argument
  }

  #arguments(parameters: readonly DeclaredParameter[], draft: Draft): Argument[] {
    return parameters.map((parameter) => this.#argument(parameter, draft))
  }

  #argument(parameter: DeclaredParameter, draft: Draft): Argument {
    if (parameter.declared) return this.#dependency(parameter.declared, draft, parameter)
    if (parameter.rest) throw new InjectionError([], restParameter(parameter))
    if (!parameter.typed) throw new InjectionError([], missingMetadata(parameter))
    const token = isToken(parameter.type) ? parameter.type : undefined
    const provider = token && this.#provider(token)
    if (token && provider) return this.#resolve(token, draft, provider)
    const input = draft.reader.infer(parameter)
    if (input !== undefined) return addInput(draft, input)
    throw new InjectionError([], notInjectable(parameter))
  }

  #dependency(dependency: Dependency, draft: Draft, parameter: Parameter | undefined): Argument {
    if (dependency.kind === 'input') return addInput(draft, draft.reader.declared(dependency.input, parameter))
    const provider = this.#provider(dependency.token)
    if (provider) return this.#resolve(dependency.token, draft, provider)
    throw new InjectionError([], noProvider(dependency.token, parameter))
  }

  #cycle(token: Token): InjectionError {
    const names = this.#path.slice(this.#path.indexOf(token)).map(tokenName)
    return new InjectionError([], cycle([...names, tokenName(token)]))
  }
}

function constructorOf(type: Constructor): Create {
  const concrete = type as new (...dependencies: unknown[]) => unknown // the type may be abstract, the class is not
  return (...dependencies) => new concrete(...dependencies)
}

function add(draft: Draft, step: Step): Argument {
  const argument: Argument = { kind: 'request', index: draft.steps.push(step) - 1 }
  draft.built.set(step.token, argument)
  return argument
}

function addInput(draft: Draft, input: unknown): Argument {
  return { kind: 'input', index: draft.inputs.push(input) - 1 }
}

function describeArgument(argument: Argument, draft: Draft): string {
  const step = argument.kind === 'request' ? draft.steps[argument.index] : undefined
  return step ? tokenName(step.token) : 'an input of the request'
}

type DeclaredParameter = Parameter & { readonly declared: Dependency | undefined }

function readMethod(
  controller: Constructor,
  member: string,
  params: readonly unknown[] | undefined,
): DeclaredParameter[] {
  return readMember(controller, controller.prototype, member, params)
}

/** @param holder of the method: a prototype, or the class itself for a static one. */
function readMember(
  owner: Constructor,
  holder: object,
  member: string,
  params: readonly unknown[] | undefined,
): DeclaredParameter[] {
  const method: unknown = Reflect.get(holder, member)
  if (!isMethod(method)) throw new InjectionError([], `${owner.name}.${member} is not a method.`)
  return declareAll(
    owner,
    member,
    methodParameters(method),
    params ?? emittedMethodTypes(holder, member),
    declaredMethodParameters(holder, member),
  )
}

function isMethod(value: unknown): value is (...args: never[]) => unknown {
  return typeof value === 'function'
}

function readConstructor(type: Constructor): DeclaredParameter[] {
  const { owner, parameters } = namedConstructor(type)
  return declareAll(owner, undefined, parameters, emittedConstructorTypes(owner), declaredConstructorParameters(owner))
}

function declareAll(
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
