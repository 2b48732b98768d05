import { Controller, Get, Item, Page, Paginate, Post, Session, dto, notFound, select } from 'sequitur'
import { Task } from './task.js'

class NewTask extends dto(Task, { omit: ['id'] }) {}

@Controller('/tasks')
export class TaskController {
  @Get('/', Page.of(Task))
  list(paginate: Paginate<Task>) {
    return paginate(select(Task, { order: ['id'] }))
  }

  @Get('/:task_id', Item.of(Task), { errors: { 404: 'Task not found' } })
  async get(task_id: number, session: Session) {
    return { data: (await session.get(Task, task_id)) ?? notFound('Task not found') }
  }

  @Post('/', Item.of(Task))
  async create(input: NewTask, session: Session) {
    const task = session.add(Task.build(input))
    await session.flush()
    return { data: task }
  }
}
