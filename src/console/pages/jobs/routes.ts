import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../../shell/root.tsx'

const parent = () => shellRoute

export const jobRoutes = [
  createRoute({
    getParentRoute: parent,
    path: '/console/jobs',
    component: lazyRouteComponent(() => import('./jobs-page.tsx'), 'JobsPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/console/endpoints/$id/jobs/$jobId',
    component: lazyRouteComponent(() => import('./job/job.tsx'), 'JobPage'),
  }),
]
