import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Field, Inject, notFound, Post, provide, Session } from 'sequitur'
import { Attempt, Job, JobRecord, Jobs } from 'sequitur/jobs'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { Hero } from '../hero.js'
import { HeroController } from '../heros.js'
import { mailer, type Mailer } from './mailer.js'

class Invitation {
  @Field({ type: 'integer' }) hero_id!: number
}

class MailJobs {
  constructor(@Inject(mailer) private readonly mail: Mailer) {}

  @Job({ name: 'mail.invite', queue: 'mail', attempts: 3 })
  async invite({ hero_id }: Invitation, session: Session, attempt: Attempt) {
    const hero = (await session.get(Hero, hero_id)) ?? attempt.discard('The hero is gone')
    await this.mail.send(hero.name, 'Come to the meeting!')
  }
}

@Controller('/invitations')
class InvitationController {
  @Post('/:hero_id', { status: 202 })
  async create(hero_id: number, session: Session, jobs: Jobs) {
    if (!(await session.get(Hero, hero_id))) notFound('Hero not found')
    await jobs.add(MailJobs, 'invite', { hero_id }, { delay: 60_000 })
  }
}

test('an invitation is sent after a minute, and again if the mail server fails', async (t) => {
  const sent: string[] = []
  const send = async (to: string) => {
    if (sent.push(to) === 1) throw new Error('The server is busy')
  }
  const api = await testApp({
    controllers: [HeroController, InvitationController],
    models: [Hero, JobRecord],
    lifespan: memoryDatabase(),
    jobs: [MailJobs],
    providers: [provide(mailer, { value: { send } })],
    logger: false,
  })
  t.after(api.close)
  await api.fetch('/heros', { method: 'POST', json: { name: 'Robin', secret_identity: 'Tim Drake', age: 17 } })

  assert.equal((await api.fetch('/invitations/2', { method: 'POST' })).status, 404)
  assert.equal((await api.fetch('/invitations/1', { method: 'POST' })).status, 202)
  const added = await api.jobs.added(MailJobs, 'invite')
  assert.deepEqual(
    added.map(({ input }) => input.hero_id),
    [1],
  )
  assert.deepEqual(await api.jobs.run(), { done: [], failed: [], dead: [] })

  const { done, failed } = await api.jobs.run({ at: new Date(Date.now() + 10 * 60_000) })
  assert.deepEqual([done.length, failed.map(({ error }) => String(error))], [1, ['Error: The server is busy']])
  assert.deepEqual(sent, ['Robin', 'Robin'])
})
