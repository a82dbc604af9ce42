import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../../shell/root.tsx'

const parent = () => shellRoute

export const podRoutes = [
  createRoute({ getParentRoute: parent, path: '/console/pods', component: lazyRouteComponent(() => import('./pods.tsx'), 'PodsPage') }),
  createRoute({
    getParentRoute: parent,
    path: '/console/pods/new',
    component: lazyRouteComponent(() => import('./create/new-pod.tsx'), 'NewPodPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/console/pods/$id',
    component: lazyRouteComponent(() => import('./pod/pod.tsx'), 'PodPage'),
  }),
]
