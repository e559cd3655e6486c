// Where the id of a milestone leads: to its project, with the milestone open beside it.
// Shows nothing of its own.

import { useQuery } from '@tanstack/react-query';
import { Navigate, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { client } from '../../client/client.ts';
import { keys } from '../../client/queries.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { PageSkeleton } from '../../ui/skeletons.tsx';

export function MilestonePage(): ReactNode {
  const { milestoneId } = useParams({ from: '/inside/milestones/$milestoneId' });
  const { data, error } = useQuery({
    queryKey: keys.one('milestones', milestoneId),
    queryFn: () => client.milestones.retrieve(milestoneId),
  });
  if (data !== undefined)
    return <Navigate to="/projects/$projectId" params={{ projectId: data.project_id }} search={{ open: data.id }} replace />;
  if (error === null) return <PageSkeleton />;
  return (
    <>
      <PageHeader title="Milestone" />
      <ErrorNotice error={error} />
    </>
  );
}
