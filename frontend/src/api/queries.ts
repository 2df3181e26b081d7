import { QueryClient } from "@tanstack/react-query";

/**
 * Resources that are read as a whole. Chats and items are not here: the
 * stream keeps them (stream/). An event of the stream marks a resource stale.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // The stream says when something changed.
      staleTime: Infinity,
      refetchOnWindowFocus: false,
      retry: 1,
    },
  },
});
