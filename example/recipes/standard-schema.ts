import { Body, Controller, Post } from 'sequitur'
import { z } from 'zod'

const NewTeam = z.object({
  name: z.string().min(2),
  members: z.array(z.string()).default([]),
  email: z.email().optional(),
})

const Team = z.object({ name: z.string(), size: z.int() })

@Controller('/teams')
export class TeamController {
  @Post('/', Team)
  create(@Body({ type: NewTeam }) team: z.infer<typeof NewTeam>) {
    return { name: team.name, size: team.members.length }
  }
}
