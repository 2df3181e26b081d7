import { QueryClientProvider } from "@tanstack/react-query";
import { queryClient } from "../api/queries";
import { Toasts } from "../ui/Toasts";
import { TooltipProvider } from "../ui/Tooltip";
import { AppKeys } from "./AppKeys";
import { Shell } from "./Shell";

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <TooltipProvider>
        <Shell />
        <AppKeys />
        <Toasts />
      </TooltipProvider>
    </QueryClientProvider>
  );
}
