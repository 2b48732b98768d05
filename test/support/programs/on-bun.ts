import { setTimeout as wait } from 'node:timers/promises'
import { Controller, createApp, Get, newLifespan, Post, Request, Session } from 'sequitur'
import { AttachmentController } from '../../../example/guides/uploads.js'
import { Hero } from '../../../example/hero.js'
import { HeroController } from '../../../example/heros.js'
import { ExportController } from '../../../example/recipes/exports.js'
import { FileController } from '../../../example/recipes/files.js'

// An app that needs many parts of a runtime: files, streams, forms, transactions, signals.
@Controller('/program')
class Program {
  @Get('/slow') async slow(ms: number) {
    console.log('slow')
    await wait(ms)
    return 'finished'
  }

  @Post('/left') async left(session: Session, { signal }: Request) {
    session.add(Hero.build({ name: 'Left', secret_identity: 'nobody', age: 1 }))
    await session.flush()
    console.log('written')
    await wait(60_000, undefined, { signal })
    return 'kept'
  }
}

const app = createApp({
  controllers: [HeroController, ExportController, FileController, AttachmentController, Program],
  models: [Hero],
  lifespan: newLifespan(undefined, { sync: true }),
})
await app.listen(0)
