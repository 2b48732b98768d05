import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, createApp, Field, Inject, Post, Query, Request, Session, token, Transactional } from 'sequitur'
import { Attempt, Cron, Job, JobRecord, Jobs } from 'sequitur/jobs'
import { memoryDatabase } from 'sequitur/testing'

/*
 * Mistakes in the classes of jobs, and in what uses them: the start refuses them, and says what to write instead.
 */

class Charge {
  @Field() account!: string
}
class Plain {
  account!: string
}
const greeting = token<string>('greeting')

class SecondParameter {
  @Job({ name: 'mistake' })
  run(session: Session, input: Charge) {
    return [session, input]
  }
}
class TwoInputs {
  @Job({ name: 'mistake' })
  run(input: Charge, other: Charge) {
    return [input, other]
  }
}
class PlainNumber {
  @Job({ name: 'mistake' })
  run(id: number, session: Session) {
    return [id, session]
  }
}
class ObjectType {
  @Job({ name: 'mistake' })
  run(input: { account: string }) {
    return input
  }
}
class WithoutFields {
  @Job({ name: 'mistake' })
  run(input: Plain) {
    return input
  }
}
class ModelInput {
  @Job({ name: 'mistake' })
  run(input: JobRecord) {
    return input
  }
}
class OfRequest {
  @Job({ name: 'mistake' })
  run(input: Charge, @Query() page: string) {
    return [input, page]
  }
}
class WithRequest {
  @Job({ name: 'mistake' })
  run(input: Charge, request: Request) {
    return [input, request]
  }
}
class CronWithInput {
  @Cron('* * * * *')
  run(input: Charge) {
    return input
  }
}
class NoToken {
  @Job({ name: 'mistake' })
  run(@Inject(greeting) text: string) {
    return text
  }
}
class LimitWithoutInput {
  @Job({ name: 'mistake', limit: { by: (input: Charge | undefined) => input?.account ?? '', at: 1 } })
  run() {}
}
class WithoutTransaction {
  @Transactional(false)
  @Job({ name: 'mistake' })
  run(jobs: Jobs) {
    return jobs
  }
}
class SameName {
  @Job({ name: 'mistake' })
  run() {}

  @Job({ name: 'mistake' })
  runAgain() {}
}
class NoJobs {
  run() {}
}

const addsJobs =
  /injects Jobs, which needs a Session\. Remove the decorator, or open sessions yourself: withSession\(async \(session\) => \{ await jobsOf\(session\)\.add\(MailJobs, 'welcome', input\) \}\)\.$/

const mistakes: readonly (readonly [type: new () => object, message: RegExp])[] = [
  [
    SecondParameter,
    /^SecondParameter\.run, parameter 2 'input' is the input of a job, which has to be its first parameter: run\(input: Charge, \.\.\.\)\.$/,
  ],
  [TwoInputs, /^TwoInputs\.run, parameter 2 'other' is a second input, and a job has one: its first parameter\./],
  [
    PlainNumber,
    /^PlainNumber\.run, parameter 1 'id' has the type Number at run time, which is neither the input of a job nor a service\. The input is the first parameter, a class with @Field\(\) properties/,
  ],
  [
    ObjectType,
    /^ObjectType\.run, parameter 1 'input' has the type Object at run time[^]*a class with @Field\(\) properties/,
  ],
  [
    WithoutFields,
    /^WithoutFields\.run, parameter 1 'input' has the type Plain, which nothing provides\. For the input of the job, its first parameter, put @Field\(\) on the properties/,
  ],
  [ModelInput, /^ModelInput\.run: its input is the model JobRecord\. Write a class with @Field\(\) properties/],
  [OfRequest, /^OfRequest\.run, parameter 2 'page' reads from a request, and a job has none\./],
  [WithRequest, /^WithRequest\.run injects Request, and a job has no request\./],
  [CronWithInput, /^CronWithInput\.run has @Cron\(\) and an input, which no one gives it\./],
  [NoToken, /^NoToken\.run, parameter 1 'text': nothing provides greeting\./],
  [
    LimitWithoutInput,
    /^LimitWithoutInput\.run: `by` of its limit takes an input, and the method has none\. Give it one as its first parameter, or count all of its jobs: by: \(\) => 'all'\.$/,
  ],
  [WithoutTransaction, addsJobs],
  [SameName, /^SameName\.run and SameName\.runAgain are both jobs with the name mistake\./],
  [NoJobs, /^NoJobs has no jobs\. Put @Job\(\{ name \}\)/],
]

for (const [type, message] of mistakes)
  test(`the start refuses ${type.name}`, () => {
    const start = () => createApp({ controllers: [], jobs: [type], models: [JobRecord], lifespan: memoryDatabase() })
    assert.throws(start, { message })
  })

@Controller('/without')
class AddsWithoutTransaction {
  @Transactional(false)
  @Post('/')
  async add(jobs: Jobs) {
    await jobs.add(LimitWithoutInput, 'run')
  }
}

@Controller('/attempt')
class AttemptInHandler {
  @Post('/')
  get(attempt: Attempt) {
    return attempt.id
  }
}

test('the start refuses a handler that cannot add jobs, or has no attempt', () => {
  const start = (type: new () => object) => () => createApp({ controllers: [type], lifespan: memoryDatabase() })
  assert.throws(start(AddsWithoutTransaction), { message: addsJobs })
  assert.throws(start(AttemptInHandler), {
    message:
      /^AttemptInHandler\.get, parameter 1 'attempt' has the type Attempt, which nothing provides\. Only a method with @Job\(\) or @Cron\(\) has an attempt/,
  })
})

test('@Job() and @Cron() are for methods that are not static', () => {
  for (const decorator of [Job({ name: 'mistake' }), Cron('* * * * *')])
    assert.throws(() => decorator(NoJobs, 'run', { value: () => {} }), {
      name: 'BootError',
      message: /^@(?:Job|Cron)\(\) is on run\. Put it on a method of the class that is not static\.$/,
    })
})
