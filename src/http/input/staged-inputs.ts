import { Abort } from '../../core/abort.js'
import type { Unit } from '../../core/bracket.js'
import type { InputValues } from '../../di/container.js'
import { InvalidInput } from '../errors.js'
import type { Request } from '../request.js'
import type { JsonBody } from './body.js'

/** The inputs of a request. */
export interface RequestInputs extends InputValues {
  /** The body, if it is received after the first stage. */
  readonly lateBody?: LateBody | undefined
}

export const NO_INPUTS: RequestInputs = { read: () => [] }

/** A body as its bytes, or as the reader of another media type has parsed it. */
export type Received = Buffer | JsonBody

export const NO_BODY = Buffer.alloc(0)

/** Reads the body of a route. @param stop ends the reading of a form. */
export type Receive = (request: Request, stop?: Abort) => Promise<Received>

/** A request whose inputs are not read yet, and what has arrived of its body. */
export interface UnboundRequest {
  readonly request: Request
  readonly variables: Readonly<Record<string, string>>
  readonly received: Received
}

/** Inputs that are valid. */
export interface Decodable {
  /** Their values, by their index. */
  read(): unknown[]
}

/** Validates inputs, and returns those of a stage. Throws, or rejects with, InvalidInput. */
export type CheckStage = (source: UnboundRequest) => Decodable | Promise<Decodable>

export interface StageChecks {
  /** Validates the inputs of the stage. */
  readonly own: CheckStage
  /** Validates those of the route. */
  readonly all: CheckStage
}

interface CompiledStages {
  readonly checks: readonly StageChecks[]
  readonly receive: Receive | undefined
  /** Whether the body is received after the first stage. */
  readonly receivesLate: boolean
}

/** The inputs of a request whose classes authenticate it: those of each stage are validated when the stages before it are built. */
export class StagedInputs implements RequestInputs {
  readonly lateBody: LateBody | undefined
  readonly #compiled: CompiledStages
  readonly #request: Request
  readonly #variables: Readonly<Record<string, string>>
  /** By their stage. */
  readonly #valid: Decodable[] = []
  #received: Received = NO_BODY

  constructor(compiled: CompiledStages, request: Request, variables: Readonly<Record<string, string>>) {
    this.#compiled = compiled
    this.#request = request
    this.#variables = variables
    const { receive, receivesLate } = compiled
    if (receive && receivesLate)
      this.lateBody = new LateBody(async (stop) => void (this.#received = await receive(request, stop)))
  }

  /** Receives the body, unless that is late, and validates the inputs of the first stage. */
  begin(): this | Promise<this> {
    const receiving = this.lateBody ? undefined : this.#compiled.receive?.(this.#request)
    const start = () => {
      const checked = this.#check(0)
      return checked instanceof Promise ? checked.then(() => this) : this
    }
    return receiving ? receiving.then((received) => ((this.#received = received), start())) : start()
  }

  read(stage: number): unknown[] | Promise<unknown[]> {
    const known = this.#valid[stage]
    if (known) return known.read()
    if (this.lateBody) return this.#receiveAndCheck(this.lateBody, stage)
    const checked = this.#check(stage)
    return checked instanceof Promise ? checked.then((valid) => valid.read()) : checked.read()
  }

  async #receiveAndCheck(lateBody: LateBody, stage: number): Promise<unknown[]> {
    await lateBody.received()
    return (await this.#check(stage)).read()
  }

  #check(stage: number): Decodable | Promise<Decodable> {
    const checked = this.#checkOnce(stage)
    if (checked instanceof Promise) return checked.then((later) => (this.#valid[stage] = later))
    return (this.#valid[stage] = checked)
  }

  #checkOnce(stage: number): Decodable | Promise<Decodable> {
    const { own, all } = this.#compiled.checks[stage] as StageChecks // each stage of the plan has them
    const source = { request: this.#request, variables: this.#variables, received: this.#received }
    // Nothing can authenticate the request: the response has the issues of all inputs, if they have arrived.
    const failed = (error: unknown) => {
      if (error instanceof InvalidInput && own !== all && !(this.lateBody && stage === 0)) return all(source)
      throw error
    }
    try {
      const checked = own(source)
      return checked instanceof Promise ? checked.then(undefined, failed) : checked
    } catch (error) {
      return failed(error)
    }
  }
}

/**
 * A body that is received when something needs it: the first class that takes a part of it, or the first statement of a unit of work. What is built
 * before can refuse the request, and no transaction waits for a slow client.
 */
export class LateBody {
  readonly #receive: (stop: Abort) => Promise<void>
  readonly #stop = new Abort()
  #receiving: Promise<void> | undefined
  /** Ends what waits for the body in the current run of the handler. */
  #run = new Abort()

  /** @param receive called once; fails with the reason of the abort. */
  constructor(receive: (stop: Abort) => Promise<void>) {
    this.#receive = receive
  }

  /** Resolves when the body has arrived. @throws what receiving it throws. */
  received(): Promise<void> {
    return (this.#receiving ??= this.#receive(this.#stop))
  }

  /** Lets the units of a run begin only after the body has arrived. */
  holdBack(units: readonly Unit[]): readonly Unit[] {
    const run = (this.#run = new Abort())
    for (const unit of units) unit.beginAfter?.(() => this.#receivedDuring(run))
    return units
  }

  // A body that a failed run has not awaited would keep its rollback waiting for a client.
  #receivedDuring(run: Abort): Promise<void> {
    return new Promise((resolve, reject) => {
      run.onAbort(reject)
      this.received().then(resolve, reject)
    })
  }

  /** Calls the work of a run, which waits no more for the body once it has failed. */
  async during<T>(work: () => T | PromiseLike<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      this.#run.abort(error)
      throw error
    }
  }

  /** The request has failed: nothing needs the rest of the body. */
  giveUp(reason: unknown): void {
    this.#stop.abort(reason)
  }
}
