// An app with a live list, which a test runs as another process. It is killed after the COMMIT of a request, before anything else, if the request says so.
import { Controller, createApp, Get, newLifespan, Page, Paginate, Post, Request, select, Session } from 'sequitur'
import 'sequitur/feeds'
import { Team } from '../../support/hero.js'

@Controller('/teams')
class Teams {
  @Get('/', Page.of(Team), { live: true })
  list(paginate: Paginate<Team>) {
    return paginate(select(Team, { order: ['id'] }))
  }

  @Post('/:name') async create(name: string, session: Session, { headers }: Request) {
    await Team.create({ name })
    if (headers['x-die']) session.afterCommit(() => process.kill(process.pid, 'SIGKILL'))
  }
}

await createApp({ controllers: [Teams], models: [Team], lifespan: newLifespan() }).listen(0)
