//! Tools of MCP servers in a run: started before a loop's turn, looked at again before each further one.

use std::sync::Arc;

use super::core::LoopCore;
use super::finish::End;
use super::host::unless_stopped;
use super::iteration::LoopRun;
use super::toolbox::Tool;
use crate::event::ExitReason;
use crate::verb::{Phase, StepFailure};

impl LoopRun {
    /// Starts the servers whose tools the loop lists, and takes over what changed of their tools since the last turn.
    pub(super) async fn follow_tools(&mut self) -> Option<End> {
        let core = Arc::clone(&self.core);
        let lease = core.shared.servers.as_ref()?;
        let program = &core.program;
        let is_first = core.depth == 0 && core.state().iteration == 1;
        let start = async {
            if is_first {
                lease.start_eager().await;
            }
            lease.start(&program.servers).await
        };
        match unless_stopped(&core.stop.work, start).await {
            Err(_) => return Some(core.stopped()),
            Ok(Err(words)) if program.pending => return Some(End::failed(ExitReason::Error, words)),
            // A server that is gone again: its tools stay listed, and whoever calls one is told.
            Ok(_) => {}
        }
        if program.is_current(&core.edition.toolbox) {
            return None;
        }
        match core.edition.program(&program.name) {
            Ok(program) => self.change_to(&core.edition, program),
            Err(error) if program.pending => return Some(End::failed(ExitReason::Error, error.to_string())),
            // A tool that the loop lists by its name is gone. The loop goes on with what it knows.
            Err(_) => {}
        }
        None
    }
}

impl LoopCore {
    /// Starts all servers of the workspace: what they have is known when they run. One that does not start is told of, and what
    /// the others have is found.
    ///
    /// # Errors
    /// The run is stopped meanwhile.
    pub(super) async fn start_servers(&self, phase: Phase) -> Result<(), StepFailure> {
        if let (Some(lease), true) = (&self.shared.servers, self.program.allow.tool) {
            unless_stopped(self.token(phase), lease.start_all()).await?;
        }
        Ok(())
    }

    /// A tool; the server that brings it is started when it has to be.
    pub(super) async fn find_tool(&self, name: &str, phase: Phase) -> Result<Arc<Tool>, StepFailure> {
        let toolbox = &self.edition.toolbox;
        if let Some(tool) = toolbox.get(name) {
            return Ok(tool);
        }
        if let (Some(server), Some(lease)) = (toolbox.server_of(name), &self.shared.servers) {
            let server = [server.to_owned()];
            unless_stopped(self.token(phase), lease.start(&server)).await?.map_err(StepFailure::Failed)?;
        }
        toolbox.get(name).ok_or_else(|| {
            let words = toolbox.named(name).err();
            StepFailure::Failed(words.unwrap_or_else(|| format!("there is no tool named `{name}`")))
        })
    }
}
